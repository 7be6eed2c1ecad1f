#include "models/topology_files/source_lines.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace zerosim {

SourceLines::SourceLines(std::string_view text, std::string file)
    : file_(std::move(file)), starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
}

Location SourceLines::At(std::size_t byte) const {
  const auto next = std::ranges::upper_bound(starts_, byte);
  return {file_, static_cast<int>(next - starts_.begin()),
          static_cast<int>(byte - *std::prev(next)) + 1};
}

bool CheckTextBytes(std::string_view text, const SourceLines& lines, const std::string& file,
                    std::string_view allowed, Problems* problems) {
  if (text.size() > kMaxFileBytes) {
    problems->Add({file, 0, 0}, fmt::format("is larger than {} bytes", kMaxFileBytes));
    return false;
  }
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = Utf8Length(text.substr(i));
    if (length == 0) {
      problems->Add(lines.At(i), fmt::format("expected UTF-8 text, got the byte 0x{:02X}", c));
      return false;
    }
    const bool blank = c == '\n' || c == '\r' || c == '\t';
    if ((c < 0x20 || c == 0x7F) && !blank && allowed.find(text[i]) == std::string_view::npos) {
      problems->Add(lines.At(i),
                    fmt::format("expected text, got the control character 0x{:02X}", c));
      return false;
    }
    i += length;
  }
  return true;
}

std::string Plain(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == ':' || c == '-' || c == '+';
  };
  const bool is_plain = !text.empty() && text.size() <= 60 && std::ranges::all_of(text, plain);
  return is_plain ? std::string(text) : Quoted(text);
}

}  // namespace zerosim
