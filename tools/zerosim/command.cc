#include "tools/zerosim/command.h"

#include <cstdio>

#include <fmt/format.h>

namespace zerosim {

Catalog DefaultCatalog() {
  return {{ZEROSIM_CATALOG}};
}

CLI::Validator OneOf(const std::vector<std::string>& names) {
  const auto check = [names](const std::string& given) -> std::string {
    for (const std::string& name : names) {
      if (name == given) return "";
    }
    return fmt::format("expected {}, got \"{}\"", fmt::join(names, " or "), given);
  };
  return {check, ""};
}

CLI::Validator FilePath() {
  const auto check = [](const std::string& given) -> std::string {
    return given.empty() ? "expected the path of a file, got \"\"" : "";
  };
  return {check, ""};
}

void PrintError(std::string_view text) {
  // fmt::print would throw.
  std::fwrite(text.data(), 1, text.size(), stderr);
}

Override ParseOverride(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format(
        "--set: expected a key and its value such as cluster.nodes=48, got \"{}\"", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace zerosim
