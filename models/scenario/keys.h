// Every key of the scenario format: what it means, its type, unit, default and range.
//
// This table is the format. The reader takes types, ranges, defaults and the list of known keys
// from it; scenarios/README.md and scenarios/scenario.schema.json are written from it (a test holds
// them to it), and `zerosim explain KEY` prints it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zerosim {

enum class KeyType : std::uint8_t {
  kText,
  kFlag,  // true or false
  kInteger,
  kNumber,
  kDuration,  // "5 us"
  kRate,      // "400 Gbps"
  kSize,      // "80 GiB"
  kFlopRate,  // "312 TFLOP/s"
  kChoice,    // one of KeySpec::choices
  kSection,
  kReference,         // the name of a file of the catalog, or a section
  kFlagOrSection,     // true is the section with its defaults
  kCountOrNode,       // a number of ranks, or "node"
  kList,              // of sections, whose keys have the path PATH[]
  kIntegers,          // a list of whole numbers
  kTexts,             // a list of names
  kNumberParameter,   // a number, or a section {value, low, high, source}
  kDurationParameter  // a duration, or such a section
};

struct KeySpec {
  // "zero.overlap.reduce". "cluster.calibration.*.low" is a key of every parameter of the
  // calibration, "cluster.node.gpu.attention[].rate" of every item of the list.
  std::string_view path = {};
  KeyType type = KeyType::kSection;
  // What the reader takes without the key, as it would be written; empty: see `otherwise`.
  std::string_view fallback = {};
  // What holds without the key, in words, where it is no fixed text. If this is empty too, the key
  // is required.
  std::string_view otherwise = {};
  // Least and greatest value, in the base unit (1, s, B/s, B, FLOP/s).
  double low = 0;
  double high = 0;
  std::string_view choices = {};  // "ring|hierarchical_ring", in the order of the enumeration
  std::string_view meaning = {};  // sentences

  bool required() const { return fallback.empty() && otherwise.empty(); }
  std::string_view name() const { return path.substr(path.rfind('.') + 1); }
};

// All keys, each section before its keys.
std::span<const KeySpec> AllKeys();

// The key of that path, or null.
const KeySpec* FindKey(std::string_view path);

// "cluster.nodes" of the section "cluster" and the key "nodes"; "" is the top level.
std::string JoinPath(std::string_view path, std::string_view key);

// Keys directly in the section `path` ("" is the top level), in order.
std::vector<const KeySpec*> KeysOf(std::string_view path);

// What a value of the key looks like: `a rate such as "400 Gbps" or "50 GB/s"`.
std::string Wanted(const KeySpec& key);

// Its range: "from 1 to 65536", "above 0 and up to 1", "from 1 us to 10 s". Empty for what has
// none.
std::string RangeText(const KeySpec& key);

// The name among `known` nearest to `given` by edit distance, if it is near enough to be what was
// meant (half of its letters, at most 3), or "".
std::string Nearest(std::string_view given, const std::vector<std::string>& known);

}  // namespace zerosim
