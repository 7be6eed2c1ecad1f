#include "models/topology_files/slurm_lines.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// The end of the line that starts at `begin`, with those that it continues in.
std::size_t LineEnd(std::string_view text, std::size_t begin) {
  std::size_t end = text.find('\n', begin);
  while (end != std::string_view::npos) {
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t last = line.find_last_not_of('\r');
    if (last == std::string_view::npos || line[last] != '\\') return end;
    end = text.find('\n', end + 1);
  }
  return text.size();
}

}  // namespace

std::vector<std::vector<SlurmValue>> ReadSlurmLines(const std::string& text,
                                                    const std::string& file, Problems* problems) {
  const SourceLines places(text, file);
  if (!CheckTextBytes(text, places, file, "", problems)) return {};
  std::vector<std::vector<SlurmValue>> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = LineEnd(text, begin);
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    line = line.substr(0, line.find('#'));
    std::vector<SlurmValue> values;
    for (std::size_t at = 0; at < line.size();) {
      at = line.find_first_not_of(" \t\r\n\\", at);
      if (at == std::string_view::npos) break;
      const std::size_t stop = std::min(line.find_first_of(kBlanks, at), line.size());
      const std::string_view word = line.substr(at, stop - at);
      const std::size_t equal = word.find('=');
      if (equal == std::string_view::npos || equal == 0) {
        problems->Add(places.At(begin + at),
                      fmt::format("expected a key and a value such as \"SwitchName=leaf0\", got {}",
                                  Quoted(word)));
        return {};
      }
      values.push_back({Lower(word.substr(0, equal)), std::string(word.substr(equal + 1)),
                        places.At(begin + at + equal + 1)});
      at = stop;
    }
    if (!values.empty()) lines.push_back(std::move(values));
    begin = end + 1;
  }
  return lines;
}

}  // namespace zerosim
