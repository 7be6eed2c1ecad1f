#include "models/core/diagnostics.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace zerosim {
namespace {

constexpr std::size_t kShownProblems = 50;
constexpr std::size_t kShownColumns = 100;
constexpr std::size_t kQuotedBytes = 60;

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  std::string_view found = text.substr(0, text.find('\n'));
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

// `text` fit for a terminal; what is not gets a '?'.
std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    const auto lead = static_cast<unsigned char>(text.front());
    if (length == 0 || lead == 0x7F || (lead < 0x20 && lead != '\t')) {
      out += '?';
    } else if (lead == '\t') {
      out += ' ';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

// The line with a caret under the column; of a long line the part around it.
std::string QuoteLine(std::string_view line, int column) {
  std::size_t caret = column < 1 ? 0 : static_cast<std::size_t>(column - 1);
  caret = std::min(caret, line.size());
  std::size_t begin = 0;
  if (line.size() > kShownColumns && caret > kShownColumns / 2) {
    begin = std::min(caret - kShownColumns / 2, line.size() - kShownColumns);
  }
  std::size_t end = std::min(line.size(), begin + kShownColumns);
  while (begin < caret && IsContinuation(line[begin])) ++begin;
  while (end < line.size() && end > caret && IsContinuation(line[end])) --end;

  const std::string before =
      (begin > 0 ? "..." : "") + Printable(line.substr(begin, caret - begin));
  const std::string after =
      Printable(line.substr(caret, end - caret)) + (end < line.size() ? "..." : "");
  const auto indent = std::ranges::count_if(before, [](char c) { return !IsContinuation(c); });
  return fmt::format("  {}{}\n  {:{}}^\n", before, after, "", indent);
}

std::string Render(const std::vector<Diagnostic>& problems,
                   const std::vector<SourceText>& sources) {
  std::string out;
  for (std::size_t i = 0; i < std::min(problems.size(), kShownProblems); ++i) {
    const Diagnostic& p = problems[i];
    out += fmt::format("{}: error: {}\n", Place(p.where), p.what);
    if (p.where.line == 0) continue;
    const auto source = std::ranges::find(sources, p.where.file, &SourceText::file);
    if (source == sources.end()) continue;
    const std::string_view line = LineOf(source->text, p.where.line);
    if (!line.empty()) out += QuoteLine(line, p.where.column);
  }
  if (problems.size() > kShownProblems) {
    out += fmt::format("and {} more problems\n", problems.size() - kShownProblems);
  }
  return out;
}

}  // namespace

std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  const auto follows = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0 && follows(1)) return 2;
  if (lead >= 0xE0 && lead < 0xF0 && follows(1) && follows(2)) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xF0 && lead < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool too_great = lead == 0xF4 && byte(1) >= 0x90;
    return overlong || too_great ? 0 : 4;
  }
  return 0;
}

std::string Place(const Location& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

std::string Quoted(std::string_view text) {
  if (text.size() <= kQuotedBytes) return '"' + Printable(text) + '"';
  std::size_t end = kQuotedBytes;
  while (end > 0 && IsContinuation(text[end])) --end;
  return '"' + Printable(text.substr(0, end)) + "...\"";
}

ScenarioError::ScenarioError(std::vector<Diagnostic> problems,
                             const std::vector<SourceText>& sources)
    : std::runtime_error(Render(problems, sources)), problems_(std::move(problems)) {}

}  // namespace zerosim
