// The table of keys (keys.h), one function a section, in the order of the format.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/scenario/keys.h"

namespace zerosim {

// Bounds that keep every product of the models within 2^63 and every loop within seconds; far
// beyond any machine or model that exists.
constexpr double kMostNodes = 16'777'216;
constexpr double kMostElements = 1e15;
constexpr double kLeastRate = 1e3;
constexpr double kMostRate = 1e15;

std::span<const KeySpec> ClusterKeys();
std::span<const KeySpec> FabricKeys();
std::span<const KeySpec> ExceptionKeys();  // nodes that are not as the others
std::span<const KeySpec> JitterKeys();
std::span<const KeySpec> CalibrationKeys();
std::span<const KeySpec> ModelKeys();
std::span<const KeySpec> TrainingKeys();  // and parallelism's
std::span<const KeySpec> ZeroKeys();
std::span<const KeySpec> FsdpKeys();
std::span<const KeySpec> ComputeKeys();  // and those of collectives

// The keys of a section that quantises what a strategy sends ("zero.quantized_weights"), which are
// the same in every strategy; none for other sections.
std::vector<KeySpec> QuantizationKeys(std::string_view section);

}  // namespace zerosim
