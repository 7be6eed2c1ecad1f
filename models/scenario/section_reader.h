// A section of a scenario, read strictly by the table of keys.
//
// Each key is asked for by name; its type, range and default come from keys.h. What is missing,
// mistyped, out of range or unknown becomes a problem at its own place, and reading goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/units.h"
#include "models/hardware/hardware.h"
#include "models/scenario/document.h"
#include "models/scenario/keys.h"

namespace zerosim {

class SectionReader {
 public:
  // Reads `root`, the top level. `problems` must outlive the reader, `root` too. A key whose value
  // becomes a problem is doubted in it, and so is one that an unknown key may have meant.
  SectionReader(const Node& root, Problems* problems);

  // The section `key` of this one. If it is not there, its keys have their defaults, and required
  // ones are not reported one by one. `key` may be of type kSection, kReference or kFlagOrSection.
  SectionReader Section(std::string_view key);

  // The items of the list `key`.
  std::vector<SectionReader> List(std::string_view key);

  // Read the value of `key` or its default; a problem leaves *out as it is.
  void Read(std::string_view key, bool* out);
  void Read(std::string_view key, int* out);
  void Read(std::string_view key, std::int64_t* out);
  void Read(std::string_view key, double* out);
  void Read(std::string_view key, Seconds* out);
  void Read(std::string_view key, BytesPerSecond* out);
  void Read(std::string_view key, Bytes* out);
  void Read(std::string_view key, FlopsPerSecond* out);
  void Read(std::string_view key, std::string* out);
  void Read(std::string_view key, Parameter* out);
  template <typename T>
  void Read(std::string_view key, std::optional<T>* out) {
    T value{};
    if (!Has(key)) {
      Ask(key);
      return;
    }
    const std::size_t before = problems_->error_count();
    Read(key, &value);
    if (problems_->error_count() == before) *out = value;
  }
  // `Enum` must list its enumerators in the order of KeySpec::choices.
  template <typename Enum>
  void ReadChoice(std::string_view key, Enum* out) {
    const std::optional<int> index = Choice(key);
    if (index) *out = static_cast<Enum>(*index);
  }

  template <typename Enum>
  void ReadChoice(std::string_view key, std::optional<Enum>* out) {
    const std::optional<int> index = Choice(key);
    if (index) *out = static_cast<Enum>(*index);
  }

  // The items of the list `key` (kIntegers); *out stays as it is if one is a problem.
  void Read(std::string_view key, std::vector<int>* out);
  // The same of kTexts.
  void Read(std::string_view key, std::vector<std::string>* out);

  // Whether the section `key` (kFlagOrSection) is on: a section or true.
  bool IsOn(std::string_view key);
  // A number of ranks; "node" is `gpus_per_node`.
  void ReadCountOrNode(std::string_view key, int gpus_per_node, int* out);

  // Whether the text gives `key`.
  bool Has(std::string_view key) const;
  // The place of the key or, if it is not given, of the section.
  Location Where(std::string_view key) const;
  // "zero.stage" for key "stage".
  std::string PathOf(std::string_view key) const;
  void Report(std::string_view key, const std::string& what);
  void Warn(std::string_view key, const std::string& what);

  // Reports each key that the table does not know, with the nearest that it does. Checks that
  // every key that it knows was asked for. Call it last.
  void Finish();

 private:
  SectionReader(const Node* node, Location where, std::string path, std::string table_path,
                bool silent, Problems* problems);

  const KeySpec& Ask(std::string_view key);
  const Entry* Find(std::string_view key) const;  // or null
  void ReportUnknown(const Entry& entry, const std::vector<std::string>& known);
  // The text of `key`, or its default. Empty: a problem was reported, or there is no default.
  std::optional<std::string> TextOf(std::string_view key);
  template <typename Parse>
  std::optional<double> NumberOf(std::string_view key, Parse parse);
  std::optional<int> Choice(std::string_view key);
  std::optional<double> ParameterNumber(const KeySpec& spec, const Node& node,
                                        std::string_view name);

  const Node* node_;  // null: the section is not there
  Location where_;
  std::string path_;        // as the user writes it
  std::string table_path_;  // as keys.h has it
  bool silent_;             // required keys that are missing are not reported
  Problems* problems_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace zerosim
