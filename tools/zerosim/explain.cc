// zerosim explain: what a word, a key of a result or a key of a scenario means.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/keys.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/nearest.h"
#include "tools/zerosim/terms.h"

namespace zerosim {
namespace {

constexpr std::size_t kColumns = 92;

// `text` in lines of at most kColumns, each after two spaces.
std::string Wrapped(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > 0 && column + 1 + end > kColumns) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? "  " : " ";
    column += (column == 0 ? 2 : 1) + end;
    out += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + '\n';
}

std::string Names(const std::vector<std::string>& names) {
  return Wrapped(fmt::format("{}", fmt::join(names, ", ")));
}

std::vector<std::string> NamesOf(std::span<const Term> terms) {
  std::vector<std::string> names;
  for (const Term& term : terms) names.emplace_back(term.name);
  return names;
}

std::vector<std::string> ScenarioKeyNames() {
  std::vector<std::string> names;
  for (const KeySpec& key : AllKeys()) names.emplace_back(key.path);
  return names;
}

void List() {
  fmt::print("Words\n{}", Names(NamesOf(FieldTerms())));
  fmt::print("\nKeys of a result\n{}", Names(NamesOf(ResultKeys())));
  fmt::print("\nKeys of a scenario\n{}", Names(ScenarioKeyNames()));
}

// What an entry says after its name, and the paragraph below.
struct Entry {
  std::string head;
  std::string text;
};

Entry EntryOf(const KeySpec& key) {
  std::string head = fmt::format("{}, key of a scenario: {}", key.path, Wanted(key));
  const std::string range = RangeText(key);
  if (!range.empty()) head += ", " + range;
  std::string text(key.meaning);
  if (key.required()) {
    text += " Required.";
  } else {
    text += fmt::format(" Without it: {}.", key.fallback.empty() ? key.otherwise : key.fallback);
  }
  return {head, text};
}

std::vector<Entry> Find(const std::string& name) {
  std::vector<Entry> found;
  for (const Term& term : FindTerms(name, FieldTerms())) {
    found.push_back({std::string(term.name), std::string(term.text)});
  }
  for (const Term& term : FindTerms(name, ResultKeys())) {
    found.push_back({fmt::format("{}, key of a result{}", term.name,
                                 term.unit.empty() ? "" : fmt::format(", in {}", term.unit)),
                     std::string(term.text)});
  }
  for (const KeySpec& key : AllKeys()) {
    if (IsNamedBy(key.path, name)) found.push_back(EntryOf(key));
  }
  for (const ReservedKey& key : ReservedKeys()) {
    if (IsNamedBy(key.path, name)) {
      found.push_back(
          {fmt::format("{}, key of a scenario", key.path), fmt::format("{}.", key.why)});
    }
  }
  return found;
}

// Names as they may be typed: whole, and of keys their last part.
std::vector<std::string> KnownNames() {
  std::vector<std::string> known = NamesOf(FieldTerms());
  for (const auto& paths : {NamesOf(ResultKeys()), ScenarioKeyNames()}) {
    for (const std::string& path : paths) {
      known.push_back(path.substr(path.rfind('.') + 1));
      known.push_back(path);
    }
  }
  return known;
}

void Explain(const std::string& name) {
  const std::vector<Entry> entries = Find(name);
  for (const Entry& entry : entries) {
    fmt::print("{}{}\n{}", &entry == &entries.front() ? "" : "\n", entry.head, Wrapped(entry.text));
  }
  if (!entries.empty()) return;
  const std::vector<std::string> near = NearestNames(name, KnownNames());
  throw UsageError(near.empty()
                       ? fmt::format("explain: no term \"{}\"; `zerosim explain` lists all", name)
                       : fmt::format("explain: no term \"{}\"; did you mean {}?", name,
                                     fmt::join(near, " or ")));
}

}  // namespace

Command AddExplain(CLI::App& zerosim) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* app =
      zerosim.add_subcommand("explain", "Say what a word, a line of a report or a key means");
  app->add_option("TERM", *words, "A word, a key or the end of a key; without one, all are listed");
  app->footer(
      "Examples:\n"
      "  zerosim explain qgZ\n"
      "  zerosim explain exposed communication\n"
      "  zerosim explain throughput.mfu");
  return {app, [words] {
            if (words->empty()) return List();
            Explain(fmt::format("{}", fmt::join(*words, " ")));
          }};
}

}  // namespace zerosim
