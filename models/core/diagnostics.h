// Errors in what a user wrote, with the place where it was written.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace zerosim {

// A place in a text. Lines and columns count from 1, columns in bytes. Line 0 means the text as a
// whole (a missing file, an option of the command line); `file` then says which.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  Location where;
  std::string what;  // one sentence, no final stop: "expected ..., got ..."
};

// A text that diagnostics point into, as it was read.
struct SourceText {
  std::string file;
  std::string text;
};

// "file:line:column", or the file alone for line 0.
std::string Place(const Location& where);

// `text` as messages quote it: in double quotes, cut to 60 bytes, control characters and bytes that
// are not UTF-8 as "?".
std::string Quoted(std::string_view text);

// Length in bytes of the UTF-8 sequence that `text`, not empty, starts with; 0 if it is not well
// formed (overlong, a surrogate, above U+10FFFF, cut short).
std::size_t Utf8Length(std::string_view text);

// Thrown once, with every problem found, so that a user mends a scenario in one pass. what() gives
// each as "file:line:column: error: what", the line itself (at most 100 columns around the place)
// and a caret; after 50 problems only the number of the others.
class ScenarioError : public std::runtime_error {
 public:
  // `sources` are the texts that the problems lie in, for the quoted lines; a problem in another
  // file is shown without its line. Requires at least one problem.
  ScenarioError(std::vector<Diagnostic> problems, const std::vector<SourceText>& sources);
  const std::vector<Diagnostic>& problems() const { return problems_; }

 private:
  std::vector<Diagnostic> problems_;
};

}  // namespace zerosim
