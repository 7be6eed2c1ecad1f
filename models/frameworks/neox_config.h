// A GPT-NeoX configuration (configs/*.yml) as the sections model:, training:, parallelism: and
// zero: of a scenario.
//
// Source: EleutherAI/gpt-neox, megatron/neox_arguments/neox_args.py and deepspeed_args.py, whose
// defaults hold here. Keys may have dashes for underscores. Those of DeepSpeed among them are read
// as deepspeed_config.h says; of the others, those that shape the step are read or refused, and all
// that are left (data, logging, learning rate) are listed in one note.
//
// Not in a configuration: the vocabulary, which is that of the tokenizer, padded; the ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "models/scenario/document.h"

namespace zerosim {

struct NeoxContext {
  std::optional<std::int64_t> world;       // ranks of the job
  std::optional<std::int64_t> vocabulary;  // of the model, padded, if it is known
  const Node* own = nullptr;               // the scenario, whose keys win; may be null
};

// Returns a map of the sections, whose values have the places of `config`.
Node ImportNeox(const Node& config, const NeoxContext& context, Problems* problems);

}  // namespace zerosim
