#include <vector>

#include "models/scenario/key_sections.h"

namespace zerosim {
namespace {

using enum KeyType;

constexpr KeySpec kTopLevel[] = {
    {.path = "name",
     .type = kText,
     .otherwise = "the file's name",
     .meaning = "What reports call the scenario."},
    {.path = "include",
     .type = kText,
     .otherwise = "nothing is included",
     .meaning = "Another YAML file, relative to this one. Its keys are read first, and the keys of "
                "this file win over them; sections merge key by key. It may include another in "
                "turn."},

    {.path = "neox",
     .type = kText,
     .otherwise = "every key stands here",
     .meaning = "A GPT-NeoX configuration (YAML), relative to this file, that gives model, "
                "training, parallelism and zero; keys that the scenario gives itself win. It does "
                "not say the vocabulary: add model.vocabulary."},
    {.path = "framework",
     .type = kText,
     .otherwise = "no framework's habits",
     .meaning =
         "The framework that runs the step: the name of a file in frameworks/, whose keys of "
         "compute, fsdp, zero and collectives are the defaults of this scenario's. If the "
         "scenario has zero, the framework's fsdp does not count, and the other way round."},
};

std::vector<KeySpec> Join() {
  std::vector<KeySpec> keys(std::begin(kTopLevel), std::end(kTopLevel));
  for (const auto section : {ClusterKeys, FabricKeys, ExceptionKeys, JitterKeys, CalibrationKeys,
                             ModelKeys, TrainingKeys, ZeroKeys, FsdpKeys, ComputeKeys}) {
    for (const KeySpec& key : section()) {
      keys.push_back(key);
      const std::vector<KeySpec> below = QuantizationKeys(key.path);
      keys.insert(keys.end(), below.begin(), below.end());
    }
  }
  return keys;
}

}  // namespace

std::span<const KeySpec> AllKeys() {
  static const std::vector<KeySpec> keys = Join();
  return keys;
}

}  // namespace zerosim
