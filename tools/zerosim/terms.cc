#include "tools/zerosim/terms.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "tools/zerosim/nearest.h"
#include "tools/zerosim/terms_field.h"

namespace zerosim {

std::span<const Term> FieldTerms() {
  static const std::vector<Term> terms = [] {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    const auto before = [&](const Term& a, const Term& b) {
      return std::ranges::lexicographical_compare(a.name, b.name, {}, lower, lower);
    };
    std::vector<Term> merged;
    merged.reserve(NetworkTerms().size() + TrainingTerms().size());
    std::ranges::merge(NetworkTerms(), TrainingTerms(), std::back_inserter(merged), before);
    return merged;
  }();
  return terms;
}

bool IsNamedBy(std::string_view name, std::string_view wanted) {
  const std::string whole = Folded(name);
  const std::string end = Folded(wanted);
  if (end.empty() || !whole.ends_with(end)) return false;
  return whole.size() == end.size() || whole[whole.size() - end.size() - 1] == '.';
}

std::vector<Term> FindTerms(std::string_view name, std::span<const Term> among) {
  std::vector<Term> found;
  for (const Term& term : among) {
    if (IsNamedBy(term.name, name)) found.push_back(term);
  }
  return found;
}

}  // namespace zerosim
