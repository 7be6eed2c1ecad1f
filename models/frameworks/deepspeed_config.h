// A DeepSpeed configuration (ds_config.json) as the sections zero: and training: of a scenario.
//
// deepspeed_keys.h lists the keys. Each one is heeded, or has no effect on a step (a note says
// why), or is refused; a key that DeepSpeed does not know is an error where DeepSpeed refuses it
// too (inside zero_optimization, fp16, bf16) and a warning where it does not. "auto" becomes what
// the Hugging Face integration (transformers/integrations/deepspeed.py) makes of it, which a note
// tells.
//
// Not in a configuration, so left to the scenario: sequence length, activation checkpointing, the
// ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "models/scenario/document.h"

namespace zerosim {

// What a configuration is read beside.
struct DeepSpeedContext {
  std::optional<std::int64_t> ranks;   // of the data-parallel world
  std::optional<std::int64_t> hidden;  // width of the model, for "auto"
  const Node* own = nullptr;           // the scenario, whose keys win; may be null
  // Part of a GPT-NeoX file: keys of its own stand beside those of DeepSpeed.
  bool in_neox = false;
};

// Returns a map with the sections `zero` and `training`, whose values have the places of `config`.
// Keys that the scenario gives itself are left out.
Node ImportDeepSpeed(const Node& config, const DeepSpeedContext& context, Problems* problems);

}  // namespace zerosim
