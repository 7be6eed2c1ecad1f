// Configurations of other frameworks, read into a scenario or by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/frameworks/model_size.h"
#include "models/scenario/document.h"
#include "models/scenario/files.h"

namespace zerosim {

// Replaces `neox` and `zero.deepspeed_config` in `root`, a scenario with its catalog entries in
// place, by the keys of the files that they name, relative to the file that names them. Keys that
// the scenario has win. What cannot be read is reported, and its sections stand as kUnresolved.
void ImportFrameworks(Node* root, const Files& files, Problems* problems);

// The section that the config.json of `named`, the value of model.huggingface, stands for; the path
// is relative to the file that names it. Returns nothing after reporting why.
std::optional<Node> ImportModel(const Node& named, const Files& files, Problems* problems);

// What a configuration does not say of itself, if it is known.
struct ImportFacts {
  std::optional<std::int64_t> ranks;       // of DeepSpeed's data-parallel world, of NeoX's job
  std::optional<std::int64_t> hidden;      // width of the model
  std::optional<std::int64_t> vocabulary;  // of the model, padded
};

struct Imported {
  Node sections;  // a map with `zero`, `training` and so on, as a scenario has them
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::optional<ModelSize> size;  // of a config.json
};

enum class Framework : std::uint8_t { kDeepSpeed, kHuggingFace, kNeox };

// Reads the ds_config.json, config.json or GPT-NeoX YAML at `path` by itself. Throws ScenarioError
// with all problems.
Imported ImportFile(Framework framework, const std::string& path, const ImportFacts& facts,
                    const Files& files);

}  // namespace zerosim
