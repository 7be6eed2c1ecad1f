#include "models/topology_files/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "models/core/diagnostics.h"

namespace zerosim {
namespace {

constexpr std::size_t kMostDigits = 9;

// What stands in one pair of brackets, or between two pairs.
using Choices = std::vector<std::string>;

class Reader {
 public:
  Reader(std::string_view list, std::size_t most, std::vector<std::string>* names)
      : list_(list), most_(most), names_(names) {}

  std::optional<HostListProblem> Read() {
    if (list_.empty()) return HostListProblem{0, "expected names, got none"};
    while (!problem_) {
      ReadName();
      if (problem_ || at_ == list_.size()) break;
      ++at_;  // the comma
    }
    return problem_;
  }

 private:
  void Fail(std::size_t byte, std::string what) {
    if (!problem_) problem_ = HostListProblem{byte, std::move(what)};
  }

  // One name or one family of them, up to a comma or the end.
  void ReadName() {
    const std::size_t begin = at_;
    std::vector<std::string> family = {""};
    while (!problem_ && at_ < list_.size() && list_[at_] != ',') {
      const std::size_t part = at_;
      const Choices choices = list_[at_] == '[' ? ReadBrackets() : ReadPlain();
      if (problem_) return;
      if (names_->size() + family.size() * choices.size() > most_) {
        Fail(part, "too many names");
        return;
      }
      std::vector<std::string> longer;
      longer.reserve(family.size() * choices.size());
      for (const std::string& start : family) {
        for (const std::string& choice : choices) longer.push_back(start + choice);
      }
      family = std::move(longer);
    }
    if (at_ == begin) Fail(begin, "expected a name, got an empty one");
    if (problem_) return;
    names_->insert(names_->end(), family.begin(), family.end());
  }

  Choices ReadPlain() {
    const std::size_t end = std::min(list_.find_first_of("[],", at_), list_.size());
    if (end < list_.size() && list_[end] == ']') Fail(end, "expected \"[\" before \"]\"");
    Choices choices = {std::string(list_.substr(at_, end - at_))};
    at_ = end;
    return choices;
  }

  Choices ReadBrackets() {
    const std::size_t open = at_++;
    const std::size_t close = list_.find(']', at_);
    if (close == std::string_view::npos) {
      Fail(open, "this \"[\" is never closed");
      return {};
    }
    Choices choices;
    while (!problem_ && at_ <= close) {
      const std::size_t end = std::min(list_.find(',', at_), close);
      AddRange(list_.substr(at_, end - at_), &choices);
      at_ = end + 1;
    }
    at_ = close + 1;
    return choices;
  }

  // "7" or "001-012".
  void AddRange(std::string_view range, Choices* choices) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const auto low = Number(first);
    const auto high = Number(last);
    if (!low || !high || *low > *high) {
      Fail(at_, fmt::format("expected a range such as 0-15 or 001-128, got {}", Quoted(range)));
      return;
    }
    if (choices->size() + (*high - *low) >= most_) {
      Fail(at_, "too many names");
      return;
    }
    for (std::size_t i = *low; i <= *high; ++i) {
      choices->push_back(fmt::format("{:0{}}", i, first.size()));
    }
  }

  static std::optional<std::size_t> Number(std::string_view text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || text.size() > kMostDigits || error != std::errc{}) return std::nullopt;
    return end == text.data() + text.size() ? std::optional(number) : std::nullopt;
  }

  const std::string_view list_;
  const std::size_t most_;
  std::vector<std::string>* const names_;
  std::size_t at_ = 0;
  std::optional<HostListProblem> problem_;
};

}  // namespace

std::optional<HostListProblem> ExpandHostList(std::string_view list, std::size_t most,
                                              std::vector<std::string>* names) {
  return Reader(list, most, names).Read();
}

}  // namespace zerosim
