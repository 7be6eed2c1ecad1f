#include "models/topology_files/nvidia_smi_matrix.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "models/topology_files/source_lines.h"

namespace zerosim {
namespace {

constexpr std::size_t kMostDevices = 256;
constexpr int kMostNvLinks = 64;        // of one pair
constexpr std::size_t kMostWraps = 16;  // of the header
constexpr char kEscape = '\x1B';

struct Word {
  std::string_view text;
  std::size_t byte = 0;
};
using WordLine = std::vector<Word>;

// Bytes of what separates words at the start of `text`; 0 if a word starts there.
std::size_t BlankLength(std::string_view text) {
  if (text.starts_with("\xC2\xA0")) return 2;  // a no-break space
  if (text.front() == kEscape) {               // ESC [ 4 m
    const std::size_t end = text.find_first_not_of("[0123456789;", 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  return std::string_view(" \t\r|>`").find(text.front()) == std::string_view::npos ? 0 : 1;
}

std::vector<WordLine> WordsOf(std::string_view text) {
  std::vector<WordLine> lines(1);
  std::size_t begin = std::string_view::npos;  // of the word that is open
  const auto close = [&](std::size_t end) {
    if (begin != std::string_view::npos)
      lines.back().push_back({text.substr(begin, end - begin), begin});
    begin = std::string_view::npos;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\n') {
      close(i++);
      lines.emplace_back();
    } else if (const std::size_t blank = BlankLength(text.substr(i)); blank > 0) {
      close(i);
      i += std::min(blank, text.size() - i);
    } else {
      if (begin == std::string_view::npos) begin = i;
      ++i;
    }
  }
  close(text.size());
  return lines;
}

bool IsGpu(std::string_view word) {
  return word.size() > 3 && word.starts_with("GPU") &&
         word.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

std::optional<SmiCell> ParseCell(std::string_view word) {
  if (word == "X") return SmiCell{};
  if (word == "PIX") return SmiCell{PciePath::kPix, 0};
  if (word == "PXB") return SmiCell{PciePath::kPxb, 0};
  if (word == "PHB") return SmiCell{PciePath::kPhb, 0};
  if (word == "NODE") return SmiCell{PciePath::kNode, 0};
  if (word == "SYS" || word == "SOC") return SmiCell{PciePath::kSys, 0};
  if (!word.starts_with("NV")) return std::nullopt;
  int links = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), links);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  if (links < 1 || links > kMostNvLinks) return std::nullopt;
  return SmiCell{PciePath::kUnknown, links};
}

class MatrixReader {
 public:
  MatrixReader(const std::string& text, std::string file, Problems* problems)
      : lines_(WordsOf(text)), places_(text, file), file_(std::move(file)), problems_(problems) {}

  std::optional<SmiMatrix> Read() {
    const std::size_t header = FindHeader(0);
    if (header == lines_.size()) {
      problems_->Add(
          {file_, 1, 1},
          "expected the output of nvidia-smi topo -m: a line of columns that starts with "
          "GPU0 and a row GPU0 with X, got none");
      return std::nullopt;
    }
    std::size_t line = ReadHeader(header);
    if (problems_->has_errors()) return std::nullopt;
    for (std::size_t row = 0; row < matrix_.devices.size(); ++row) line = ReadRow(row, line);
    if (problems_->has_errors()) return std::nullopt;
    CheckSymmetry();
    ReadLegend(line);
    if (problems_->has_errors()) return std::nullopt;
    return std::move(matrix_);
  }

 private:
  static std::size_t FirstGpu(const WordLine& line) {
    const auto found =
        std::ranges::find_if(line, [](const Word& word) { return IsGpu(word.text); });
    return static_cast<std::size_t>(found - line.begin());
  }

  // Whether `line` is the row of `name`: its diagonal or some other cell comes next.
  static bool IsRow(const WordLine& line, std::string_view name) {
    return line.size() > 1 && line[0].text == name && ParseCell(line[1].text).has_value();
  }

  // The first line at or after `from` that names columns: the row of its first GPU follows. All
  // lines if there is none.
  std::size_t FindHeader(std::size_t from) const {
    for (std::size_t i = from; i < lines_.size(); ++i) {
      const std::size_t gpu = FirstGpu(lines_[i]);
      if (gpu == lines_[i].size() || IsRow(lines_[i], lines_[i][gpu].text)) continue;
      const std::size_t end = std::min(lines_.size(), i + kMostWraps);
      for (std::size_t row = i + 1; row < end; ++row) {
        if (IsRow(lines_[row], lines_[i][gpu].text)) return i;
        // Prose before the matrix may name its first GPU.
        if (std::ranges::count(lines_[row], lines_[i][gpu].text, &Word::text) > 0) break;
      }
    }
    return lines_.size();
  }

  // Returns the line of the first row.
  std::size_t ReadHeader(std::size_t header) {
    const std::size_t first = FirstGpu(lines_[header]);
    const std::string_view first_name = lines_[header][first].text;
    std::set<std::string_view> names;
    bool is_device = true;  // until CPU Affinity, NUMA Affinity and GPU NUMA ID
    std::size_t line = header;
    for (; line == header || !IsRow(lines_[line], first_name); ++line) {
      for (std::size_t i = line == header ? first : 0; i < lines_[line].size(); ++i) {
        const Word& word = lines_[line][i];
        is_device = is_device && word.text != "CPU" && word.text != "NUMA" && word.text != "GPU";
        if (!is_device) continue;
        if (!names.insert(word.text).second) {
          problems_->Add(places_.At(word.byte),
                         fmt::format("the column {} is given twice", Plain(word.text)));
        }
        matrix_.devices.push_back({std::string(word.text), IsGpu(word.text), "", ""});
      }
    }
    if (matrix_.devices.size() > kMostDevices) {
      problems_->Add(
          places_.At(lines_[header][first].byte),
          fmt::format("{} columns; expected at most {}", matrix_.devices.size(), kMostDevices));
    }
    return line;
  }

  bool StartsWithDevice(const WordLine& line) const {
    return !line.empty() && std::ranges::any_of(matrix_.devices, [&](const SmiDevice& device) {
      return device.name == line[0].text;
    });
  }

  // Reads the row of a device, which starts in `line` or later, and returns the line after it.
  std::size_t ReadRow(std::size_t row, std::size_t line) {
    SmiDevice& device = matrix_.devices[row];
    matrix_.cells.emplace_back();
    while (line < lines_.size() && !StartsWithDevice(lines_[line])) ++line;
    if (line == lines_.size() || lines_[line][0].text != device.name) {
      const Location where =
          line == lines_.size() ? Location{file_, 0, 0} : places_.At(lines_[line][0].byte);
      problems_->Add(where, fmt::format("expected the row {}, got {}", Plain(device.name),
                                        line == lines_.size() ? "the end of the file"
                                                              : Plain(lines_[line][0].text)));
      return line;
    }
    const Word& name = lines_[line][0];
    std::vector<SmiCell>& cells = matrix_.cells.back();
    std::size_t word = 1;
    while (cells.size() < matrix_.devices.size()) {
      if (word == lines_[line].size()) {  // wrapped, if no other row starts
        ++line;
        word = 0;
        if (line == lines_.size() || StartsWithDevice(lines_[line])) {
          problems_->Add(places_.At(name.byte),
                         fmt::format("the row {} has {} cells; expected {}", Plain(device.name),
                                     cells.size(), matrix_.devices.size()));
          cells.resize(matrix_.devices.size());
          return line;
        }
        continue;
      }
      ReadCell(row, lines_[line][word++]);
    }
    if (device.is_gpu && word < lines_[line].size()) {
      const std::string_view affinity = lines_[line][word].text;
      if (affinity != "N/A") device.affinity = affinity;
    }
    return line + 1;
  }

  void ReadCell(std::size_t row, const Word& word) {
    std::vector<SmiCell>& cells = matrix_.cells[row];
    const std::size_t column = cells.size();
    const std::optional<SmiCell> cell = ParseCell(word.text);
    const bool is_diagonal = word.text == "X";
    if (!cell || is_diagonal != (row == column)) {
      problems_->Add(
          places_.At(word.byte),
          fmt::format("row {}, column {}: expected {}, got {}", Plain(matrix_.devices[row].name),
                      Plain(matrix_.devices[column].name),
                      row == column ? "X" : "NV#, PIX, PXB, PHB, NODE, SYS or SOC",
                      Quoted(word.text)));
    }
    cells.push_back(cell.value_or(SmiCell{}));
    words_.push_back(word);
  }

  void CheckSymmetry() {
    const std::size_t size = matrix_.devices.size();
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Word& low = words_[i * size + j];
        const Word& high = words_[j * size + i];
        if (low.text == high.text) continue;
        problems_->Add(places_.At(low.byte),
                       fmt::format("row {}, column {}: {}, but the other way round {}",
                                   Plain(matrix_.devices[i].name), Plain(matrix_.devices[j].name),
                                   low.text, high.text));
      }
    }
  }

  void ReadLegend(std::size_t line) {
    const std::size_t second = FindHeader(line);
    for (; line < std::min(second, lines_.size()); ++line) {
      const WordLine& words = lines_[line];
      if (words.size() != 2 || !words[0].text.ends_with(':')) continue;
      const std::string_view name = words[0].text.substr(0, words[0].text.size() - 1);
      const auto device = std::ranges::find(matrix_.devices, name, &SmiDevice::name);
      if (device != matrix_.devices.end()) device->legend = words[1].text;
    }
    if (second == lines_.size()) return;
    problems_->Warn(places_.At(lines_[second].front().byte),
                    "a second matrix starts here, which is not read");
  }

  const std::vector<WordLine> lines_;
  const SourceLines places_;
  const std::string file_;
  Problems* const problems_;
  SmiMatrix matrix_;
  std::vector<Word> words_;  // of the cells, row by row
};

}  // namespace

std::optional<SmiMatrix> ReadSmiMatrix(const std::string& text, const std::string& file,
                                       Problems* problems) {
  const SourceLines lines(text, file);
  if (!CheckTextBytes(text, lines, file, std::string_view(&kEscape, 1), problems)) {
    return std::nullopt;
  }
  return MatrixReader(text, file, problems).Read();
}

}  // namespace zerosim
