// Every key of a DeepSpeed configuration (ds_config.json): whether a step of the simulator heeds
// it, and if not, why.
//
// Keys, defaults and old names are those of deepspeedai/DeepSpeed at edaa722 (0.19.6):
// runtime/config.py and constants.py for the top level, runtime/zero/config.py and
// offload_config.py, runtime/precision_config.py. Those three are pydantic models that refuse a key
// they do not know and take each key by its old name too; the top level ignores what it does not
// know.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace zerosim {

enum class DeepSpeedUse : std::uint8_t {
  kRead,      // heeded; see deepspeed_config.cc
  kNoEffect,  // does not change what a step sends, keeps or waits for; `why` says so
  kRefused    // would change the step and is not modelled; `why` says what it does
};

struct DeepSpeedKey {
  std::string_view path = {};  // "zero_optimization.stage3_max_live_parameters"
  DeepSpeedUse use = DeepSpeedUse::kNoEffect;
  std::string_view old_name = {};  // in the same section: "max_live_parameters"
  // Of kRead: the key of the section zero: that takes the value as it is.
  std::string_view zero_key = {};
  // Of the others: values with which the key asks for nothing, "false|0".
  std::string_view harmless = {};
  std::string_view why = {};

  std::string_view name() const { return path.substr(path.rfind('.') + 1); }
};

std::span<const DeepSpeedKey> DeepSpeedKeys();

// The key `name`, or its old name, of `section` ("" is the top level), or null.
const DeepSpeedKey* FindDeepSpeedKey(std::string_view section, std::string_view name);

// Whether the table lists keys below `path`.
bool HasDeepSpeedKeysBelow(std::string_view path);

// Whether DeepSpeed refuses a key of `section` that it does not know.
bool IsStrictInDeepSpeed(std::string_view section);

}  // namespace zerosim
