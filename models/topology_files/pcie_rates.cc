#include "models/topology_files/pcie_rates.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

constexpr std::array kTransferRates = {2.5, 5.0, 8.0, 16.0, 32.0, 64.0};  // of generations 1 to 6

double CodeEfficiency(double transfer_rate) {
  if (transfer_rate <= 5) return 8.0 / 10;
  return transfer_rate <= 32 ? 128.0 / 130 : 242.0 / 256;
}

}  // namespace

std::optional<double> ParseTransferRate(std::string_view text) {
  const std::string_view number = text.substr(0, text.find(' '));
  const std::string_view unit = text.substr(number.size());
  if (unit != " GT/s" && unit != " GT/s PCIe" && !unit.empty()) return std::nullopt;
  const std::optional<double> rate = ParseNumber(number);
  if (!rate || std::ranges::find(kTransferRates, *rate) == kTransferRates.end()) return {};
  return rate;
}

BytesPerSecond PcieLineRate(double transfer_rate, int lanes) {
  return BytesPerSecond::GigabitsPerSecond(transfer_rate * CodeEfficiency(transfer_rate) * lanes);
}

BytesPerSecond PcieNcclRate(double transfer_rate, int lanes) {
  const double share = transfer_rate <= 5 ? 0.6 : 0.75;
  return BytesPerSecond::GigabitsPerSecond(transfer_rate * share * lanes);
}

std::string PcieName(double transfer_rate, int lanes) {
  const auto* const found = std::ranges::find(kTransferRates, transfer_rate);
  return fmt::format("PCIe {}.0 x{}", found - kTransferRates.begin() + 1, lanes);
}

std::optional<SocketRate> NcclSocketRate(std::string_view arch, std::string_view vendor,
                                         int model) {
  if (arch == "arm64") return SocketRate{6, "Arm"};
  if (arch == "ppc64") return SocketRate{32, "POWER9"};
  if (vendor == "AuthenticAMD") return SocketRate{16, "AMD"};
  if (vendor != "GenuineIntel") return std::nullopt;
  if (model >= 0xCF) return SocketRate{40, "Intel Emerald Rapids"};
  if (model >= 0x8F) return SocketRate{22, "Intel Sapphire Rapids"};
  if (model >= 0x55) return SocketRate{10, "Intel Skylake"};
  return SocketRate{6, "Intel Broadwell"};
}

}  // namespace zerosim
