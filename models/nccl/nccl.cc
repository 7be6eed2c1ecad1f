#include "models/nccl/nccl.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>

#include <fmt/format.h>

namespace zerosim {
namespace {

constexpr std::array<std::string_view, 7> kCollectives{
    "broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "sendrecv"};
constexpr std::array<std::string_view, kNcclAlgorithms> kAlgorithms{
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<std::string_view, kNcclProtocols> kProtocols{"LL", "LL128", "Simple"};

std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

template <typename Enum>
std::optional<Enum> Find(std::string_view text, std::span<const std::string_view> names) {
  const auto found = std::ranges::find_if(
      names, [plain = Plain(text)](std::string_view name) { return Plain(name) == plain; });
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view Name(NcclCollective collective) {
  return kCollectives.at(Index(collective));
}
std::string_view Name(NcclAlgorithm algorithm) {
  return kAlgorithms.at(Index(algorithm));
}
std::string_view Name(NcclProtocol protocol) {
  return kProtocols.at(Index(protocol));
}

std::optional<NcclCollective> ParseNcclCollective(std::string_view text) {
  if (Plain(text) == "sendreceive") return NcclCollective::kSendReceive;
  return Find<NcclCollective>(text, kCollectives);
}
std::optional<NcclAlgorithm> ParseNcclAlgorithm(std::string_view text) {
  return Find<NcclAlgorithm>(text, kAlgorithms);
}
std::optional<NcclProtocol> ParseNcclProtocol(std::string_view text) {
  return Find<NcclProtocol>(text, kProtocols);
}

std::optional<NcclVersion> ParseNcclVersion(std::string_view text) {
  text = text.substr(0, text.find('+'));
  std::array<int, 3> numbers{0, 0, 99};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < numbers.size()) {
    const auto [next, error] = std::from_chars(at, end, numbers.at(count));
    if (error != std::errc() || numbers.at(count) < 0) return std::nullopt;
    ++count;
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  if (at != end || count < 2) return std::nullopt;
  return NcclVersion{numbers[0], numbers[1], numbers[2]};
}

NcclVersion NcclVersionOf(int code) {
  if (code >= 10000) return {code / 10000, code / 100 % 100, code % 100};
  return {code / 1000, code / 100 % 10, code % 100};
}

std::string Name(const NcclVersion& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace zerosim
