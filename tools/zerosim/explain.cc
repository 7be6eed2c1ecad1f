// zerosim explain: what a word, a key of a result, or a key of a scenario or its value means.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
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

// The values of a key that is one of several.
std::vector<std::string> ChoicesOf(const KeySpec& key) {
  std::vector<std::string> choices;
  for (std::string_view rest = key.choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    choices.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return choices;
}

std::vector<std::string> ChoiceNames() {
  std::set<std::string> names;
  for (const KeySpec& key : AllKeys()) {
    for (const std::string& choice : ChoicesOf(key)) names.insert(choice);
  }
  return {names.begin(), names.end()};
}

// "attention.rate" for "attention[].rate" and "attention[0].rate".
std::string WithoutIndices(std::string_view path) {
  std::string out;
  bool in_index = false;
  for (const char c : path) {
    if (c == '[') in_index = true;
    if (!in_index) out += c;
    if (c == ']') in_index = false;
  }
  return out;
}

bool IsKeyNamedBy(const KeySpec& key, const std::string& name) {
  const std::string path = WithoutIndices(key.path);
  if (IsNamedBy(path, name)) return true;
  const std::size_t star = path.find('*');
  if (star == std::string::npos) return false;
  // Keys of every key beside it.
  return std::ranges::any_of(KeysOf(path.substr(0, star - 1)), [&](const KeySpec* beside) {
    const bool is_parameter =
        beside->type == KeyType::kNumberParameter || beside->type == KeyType::kDurationParameter;
    return is_parameter && IsNamedBy(std::string(beside->path) + path.substr(star + 1), name);
  });
}

std::vector<Entry> Find(const std::string& given) {
  // "in the node, from one GPU" is a line of a report; what follows a comma explains itself.
  const std::string name = WithoutIndices(given.substr(0, given.find(',')));
  std::vector<Entry> found;
  for (const auto terms : {FieldTerms(), ReportTerms()}) {
    for (const Term& term : FindTerms(name, terms)) {
      found.push_back({std::string(term.name), std::string(term.text)});
    }
  }
  for (const Term& term : FindTerms(name, ResultKeys())) {
    found.push_back({fmt::format("{}, key of a result{}", term.name,
                                 term.unit.empty() ? "" : fmt::format(", in {}", term.unit)),
                     std::string(term.text)});
  }
  for (const KeySpec& key : AllKeys()) {
    if (IsKeyNamedBy(key, name)) found.push_back(EntryOf(key));
  }
  for (const KeySpec& key : AllKeys()) {
    for (const std::string& choice : ChoicesOf(key)) {
      if (Folded(choice) != Folded(name)) continue;
      found.push_back({fmt::format("{}, value of {}: {}", choice, key.path, Wanted(key)),
                       fmt::format("{} Without the key: {}.", key.meaning, key.fallback)});
    }
  }
  return found;
}

void List() {
  fmt::print("Words\n{}", Names(NamesOf(FieldTerms())));
  fmt::print("\nNames in a report\n{}", Names(NamesOf(ReportTerms())));
  fmt::print("\nKeys of a result\n{}", Names(NamesOf(ResultKeys())));
  fmt::print("\nKeys of a scenario\n{}", Names(ScenarioKeyNames()));
  fmt::print("\nValues of these keys\n{}", Names(ChoiceNames()));
}

// Names as they may be typed: whole, and of keys their last part.
std::vector<std::string> KnownNames() {
  std::vector<std::string> known = NamesOf(FieldTerms());
  for (const std::string& name : NamesOf(ReportTerms())) known.push_back(name);
  for (const std::string& choice : ChoiceNames()) known.push_back(choice);
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
