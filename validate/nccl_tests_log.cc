#include "validate/nccl_tests_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace zerosim {
namespace {

constexpr std::string_view kSpace = " \t\r";
constexpr std::string_view kChannelsHead = "channel{Lo..Hi}={";  // of channels in a choice
constexpr std::array<std::string_view, 3> kColumns{"a time", "an algbw", "a busbw"};
constexpr std::array<std::string_view, 18> kTypes{
    "int8",     "uint8", "int32", "uint32", "int64",  "uint64", "half",     "float",    "double",
    "bfloat16", "bf16",  "fp16",  "f8e4m3", "f8e5m2", "fp8",    "fp8_e4m3", "fp8_e5m2", "char"};

struct Token {
  std::string_view text;
  int column = 0;  // from 1
};
using Tokens = std::span<const Token>;

std::vector<Token> Split(std::string_view line) {
  std::vector<Token> tokens;
  std::size_t at = line.find_first_not_of(kSpace);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    tokens.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = line.find_first_not_of(kSpace, end);
  }
  return tokens;
}

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsType(std::string_view text) {
  return std::ranges::find(kTypes, text) != kTypes.end();
}

// What follows `key` in `line`, up to the next white space.
std::string_view After(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::vector<Token> tokens = Split(line.substr(at + key.size()));
  return tokens.empty() ? std::string_view() : tokens[0].text;
}

// The number before `key`, as in "24 coll channels".
std::optional<int> Before(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<Token> tokens = Split(line.substr(0, at));
  return tokens.empty() ? std::nullopt : Number<int>(tokens.back().text);
}

class Reader {
 public:
  explicit Reader(const SourceText& source) : file_(source.file) {
    std::string_view text = source.text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      ReadLine(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  NcclTestsLog Take() { return std::move(log_); }

 private:
  void Report(int column, std::string what) {
    log_.problems.push_back({{file_, line_, column}, std::move(what)});
  }

  void ReadLine(std::string_view line) {
    const std::vector<Token> tokens = Split(line);
    ReadHeader(line);
    if (line.find(" Bytes -> Algo ") != std::string_view::npos) ReadChoice(tokens);
    if (!ReadRank(line, tokens)) ReadRow(tokens);
  }

  void ReadHeader(std::string_view line) {
    if (const auto version = ParseNcclVersion(After(line, "NCCL version "))) {
      log_.version = version;
    } else if (const auto code = Number<int>(After(line, "nccl-library=")); code && *code > 0) {
      log_.version = NcclVersionOf(*code);
    }
    std::string_view test = After(line, "Collective test starting: ");
    if (test.ends_with("_perf")) test.remove_suffix(5);
    if (!test.empty()) log_.collective = ParseNcclCollective(test);
    if (line.find("nThread ") != std::string_view::npos) {
      log_.gpus_per_process = Number<int>(After(line, "nGpus "));
      log_.warmup_iterations = Number<int>(After(line, "warmup iters: "));
      const std::size_t warmup = line.find("warmup iters: ");
      if (warmup != std::string_view::npos) {
        log_.iterations = Number<int>(After(line.substr(warmup + 14), " iters: "));
      }
    }
    if (const std::size_t at = line.find("Avg bus bandwidth"); at != std::string_view::npos) {
      if (const auto rate = Number<double>(After(line.substr(at), ":"))) {
        log_.average_busbw = BytesPerSecond::GigabytesPerSecond(*rate);
      }
    }
    const auto collective = Before(line, " coll channels");
    const auto pool = Before(line, " p2p channels,");
    const auto per_peer = Before(line, " p2p channels per peer");
    if (collective && pool && per_peer) log_.channels = {*collective, *pool, *per_peer};
  }

  // "Rank  0 [Group  0] Pid 36291 on node1 device  0 [0x07] NVIDIA A100"
  bool ReadRank(std::string_view line, Tokens tokens) {
    const auto find = [&](std::string_view word, std::size_t from) {
      while (from < tokens.size() && tokens[from].text != word) ++from;
      return from;
    };
    const std::size_t rank = find("Rank", 0);
    const std::size_t pid = find("Pid", rank);
    const std::size_t on = find("on", pid);
    const std::size_t device = find("device", on);
    if (device + 1 >= tokens.size()) return false;
    NcclTestsRank result;
    const auto number = Number<int>(tokens[rank + 1].text);
    const auto index = Number<int>(tokens[device + 1].text);
    if (!number || !index || device != on + 2) {
      Report(tokens[rank].column,
             "expected a rank as in \"Rank 0 Pid 1 on host device 0 [0x07] GPU\"");
      return true;
    }
    result.rank = *number;
    result.host = tokens[on + 1].text;
    result.device = *index;
    const std::size_t open = line.find('[', tokens[device + 1].column);
    const std::size_t close = open == line.npos ? open : line.find(']', open);
    if (close != line.npos) {
      result.bus_id = line.substr(open + 1, close - open - 1);
      const std::size_t name = line.find_first_not_of(" \t", close + 1);
      if (name != line.npos) {
        result.gpu = line.substr(name, line.find_last_not_of(" \t\r") + 1 - name);
      }
    }
    log_.ranks.push_back(std::move(result));
    return true;
  }

  // "... NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}"; older ones
  // have "Algo 1 proto 0 time 12.3".
  void ReadChoice(Tokens tokens) {
    std::size_t i = 0;
    while (i < tokens.size() && tokens[i].text != "Bytes") ++i;
    if (i < 2 || i + 5 >= tokens.size() || tokens[i + 4].text != "proto") return;
    std::string_view name = tokens[i - 2].text;
    if (name.ends_with(':')) name.remove_suffix(1);
    NcclLoggedChoice choice;
    choice.line = line_;
    const auto collective = ParseNcclCollective(name);
    const auto size = Number<std::int64_t>(tokens[i - 1].text);
    const auto algorithm =
        EnumOf<NcclAlgorithm, kNcclAlgorithms>(tokens[i + 3].text, ParseNcclAlgorithm);
    const auto protocol =
        EnumOf<NcclProtocol, kNcclProtocols>(tokens[i + 5].text, ParseNcclProtocol);
    if (!collective || !size || !algorithm || !protocol) {
      Report(tokens[i - 2].column,
             "expected a choice as in \"AllReduce: 1024 Bytes -> Algo RING proto LL\"");
      return;
    }
    choice.collective = *collective;
    choice.size = Bytes::Count(*size);
    choice.algorithm = *algorithm;
    choice.protocol = *protocol;
    if (i + 6 < tokens.size()) choice.channels = ChannelsOf(tokens[i + 6].text);
    log_.choices.push_back(choice);
  }

  template <typename Enum, std::size_t kCount>
  static std::optional<Enum> EnumOf(std::string_view text,
                                    std::optional<Enum> (*parse)(std::string_view)) {
    if (const auto number = Number<unsigned>(text)) {
      if (*number >= kCount) return std::nullopt;
      return static_cast<Enum>(*number);
    }
    return parse(text);
  }

  static std::optional<int> ChannelsOf(std::string_view text) {
    if (!text.starts_with(kChannelsHead) || !text.ends_with('}')) return std::nullopt;
    text.remove_prefix(kChannelsHead.size());
    text.remove_suffix(1);
    const std::size_t dots = text.find("..");
    if (dots == text.npos) return std::nullopt;
    const auto low = Number<int>(text.substr(0, dots));
    const auto high = Number<int>(text.substr(dots + 2));
    if (!low || !high || *high < *low) return std::nullopt;
    return *high - *low + 1;
  }

  void ReadRow(Tokens tokens) {
    std::size_t i = 0;
    while (i + 2 < tokens.size() && !(IsDigits(tokens[i].text) && IsDigits(tokens[i + 1].text) &&
                                      IsType(tokens[i + 2].text))) {
      ++i;
    }
    if (i + 2 >= tokens.size()) return;
    NcclTestsRow row;
    row.line = line_;
    const auto size = Number<std::int64_t>(tokens[i].text);
    const auto count = Number<std::int64_t>(tokens[i + 1].text);
    if (!size || !count) {
      Report(tokens[size ? i + 1 : i].column, "expected a number below 2^63");
      return;
    }
    row.size = Bytes::Count(*size);
    row.count = *count;
    row.type = tokens[i + 2].text;

    const int end = tokens[i + 2].column + static_cast<int>(row.type.size());
    Tokens rest = tokens.subspan(i + 3);
    if (!rest.empty() && rest[0].text != "N/A" && !Number<double>(rest[0].text) &&
        rest[0].text.find_first_of("0123456789") == std::string_view::npos) {
      row.operation = rest[0].text;
      rest = rest.subspan(1);
    }
    // A root before two blocks of three or four columns; alone it is told from a time by the point
    // that times above 10 ms lack too.
    if (rest.size() == 7 || rest.size() >= 9) {
      row.root = Number<int>(rest[0].text);
      if (row.root) rest = rest.subspan(1);
    }
    const std::size_t columns = rest.size() >= 8 ? 4 : rest.size() == 6 ? 3 : 0;
    if (columns == 0) {
      Report(rest.empty() ? end : rest[0].column,
             fmt::format("row of {} bytes: expected two blocks of time, algbw and busbw, got {}",
                         *size, rest.empty() ? "nothing" : Quoted(rest[0].text)));
      return;
    }
    const std::size_t before = log_.problems.size();
    row.out_of_place = Block(*size, rest.first(columns));
    if (log_.problems.size() > before) return;  // the rest of the line is not what it seems
    row.in_place = Block(*size, rest.subspan(columns, columns));
    if (row.out_of_place || row.in_place) log_.rows.push_back(std::move(row));
  }

  // Nothing if the block says N/A, or was reported.
  std::optional<NcclTestsTimes> Block(std::int64_t size, Tokens columns) {
    if (columns[0].text == "N/A") return std::nullopt;
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto value = Number<double>(columns[i].text);
      if (!value || !std::isfinite(*value) || *value < 0) {
        Report(columns[i].column, fmt::format("row of {} bytes: expected {}, got {}", size,
                                              kColumns.at(i), Quoted(columns[i].text)));
        return std::nullopt;
      }
      values.at(i) = *value;
    }
    return NcclTestsTimes{Seconds::Micros(values[0]), BytesPerSecond::GigabytesPerSecond(values[1]),
                          BytesPerSecond::GigabytesPerSecond(values[2]),
                          columns.size() > 3 ? std::string(columns[3].text) : ""};
  }

  std::string file_;
  int line_ = 0;
  NcclTestsLog log_;
};

}  // namespace

int NcclTestsLog::nodes() const {
  std::set<std::string_view> hosts;
  for (const NcclTestsRank& rank : ranks) hosts.insert(rank.host);
  return static_cast<int>(hosts.size());
}

NcclTestsLog ReadNcclTestsLog(const SourceText& source) {
  return Reader(source).Take();
}

std::optional<BytesPerSecond> AverageBusbw(const NcclTestsLog& log) {
  double sum = 0;
  int count = 0;
  for (const NcclTestsRow& row : log.rows) {
    for (const auto& times : {row.out_of_place, row.in_place}) {
      if (!times) continue;
      sum += times->busbw.bytes_per_second();
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return BytesPerSecond::Count(sum / count);
}

double BusFactor(NcclCollective collective, int ranks) {
  switch (collective) {
    case NcclCollective::kAllReduce:
      return 2.0 * (ranks - 1) / ranks;
    case NcclCollective::kAllGather:
    case NcclCollective::kReduceScatter:
    case NcclCollective::kAllToAll:
      return (ranks - 1.0) / ranks;
    case NcclCollective::kBroadcast:
    case NcclCollective::kReduce:
    case NcclCollective::kSendReceive:
      return 1;
  }
  return 1;
}

}  // namespace zerosim
