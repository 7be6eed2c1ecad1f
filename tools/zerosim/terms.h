// What `zerosim explain` knows: the words of the field, the keys of a result and the lines of a
// report, each in a paragraph.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zerosim {

struct Term {
  std::string_view name;  // "qwZ"; of a key its path, "throughput.mfu", lists without an index
  std::string_view unit;  // "s"; empty for words and names
  std::string_view text;  // sentences
};

// Words of the field, in alphabetical order.
std::span<const Term> FieldTerms();

// Lines, columns and names of a report that are no words of the field, in alphabetical order.
std::span<const Term> ReportTerms();

// Keys of `zerosim run --json`, in the order of the result.
std::span<const Term> ResultKeys();

// True if `wanted` is `name` or, of a key, its last parts: "time_s" of "critical_path.time_s".
// Case,
// '-', '_' and spaces do not count.
bool IsNamedBy(std::string_view name, std::string_view wanted);

// Those of `among` that `name` may mean.
std::vector<Term> FindTerms(std::string_view name, std::span<const Term> among);

}  // namespace zerosim
