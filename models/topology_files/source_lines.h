// Places in a text by the number of a byte, and the bytes that no text may hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/diagnostics.h"
#include "models/scenario/document.h"

namespace zerosim {

class SourceLines {
 public:
  // `text` is not kept.
  SourceLines(std::string_view text, std::string file);

  // Line and column of a byte of the text.
  Location At(std::size_t byte) const;

 private:
  std::string file_;
  std::vector<std::size_t> starts_;  // of the lines
};

// Reports the size or the first byte that a text file may not have: more than kMaxFileBytes, bytes
// that are not UTF-8, control characters other than tab, CR, LF and those in `allowed`. Returns
// true if there is none.
bool CheckTextBytes(std::string_view text, const SourceLines& lines, const std::string& file,
                    std::string_view allowed, Problems* problems);

// `text` of a file as a comment may hold it: as it is if it is plain, else quoted and cut.
std::string Plain(std::string_view text);

}  // namespace zerosim
