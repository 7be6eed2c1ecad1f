// Any bytes as a scenario: they are read, or refused with a ScenarioError. Whatever else happens (a
// crash, another exception, a hang) is a fault.
//
// The text stands in a small file system with the shipped catalog. The part after a line "#include"
// becomes a second file, so that includes are reached too, and what follows "#set" overrides.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/core/diagnostics.h"
#include "models/scenario/read_scenario.h"

namespace {

// The shipped catalog, read once.
const std::map<std::string, std::string>& CatalogFiles() {
  static const auto* const files = [] {
    auto* all = new std::map<std::string, std::string>;
    const std::filesystem::path root = std::filesystem::path(ZEROSIM_SOURCE_DIR) / "scenarios";
    const zerosim::DiskFiles disk;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string name = entry.path().lexically_relative(root).string();
      all->emplace("scenarios/" + name, disk.Read(entry.path().string()).text.value_or(""));
    }
    return all;
  }();
  return *files;
}

// Cuts `text` at the first line `mark` and returns what follows it.
std::string CutAt(std::string* text, const std::string& mark) {
  const std::size_t at = text->find("\n" + mark + "\n");
  if (at == std::string::npos) return "";
  std::string rest = text->substr(at + mark.size() + 2);
  text->resize(at);
  return rest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const std::string option = CutAt(&text, "#set");
  const std::string included = CutAt(&text, "#include");

  std::map<std::string, std::string> files = CatalogFiles();
  files["scenarios/other.yaml"] = included;
  std::vector<zerosim::Override> set;
  if (const std::size_t equals = option.find('='); equals != std::string::npos) {
    set.push_back({option.substr(0, equals), option.substr(equals + 1)});
  }
  try {
    zerosim::ReadScenarioText(text, "scenarios/fuzz.yaml", set, {},
                              zerosim::MemoryFiles(std::move(files)));
  } catch (const zerosim::ScenarioError&) {
  }
  return 0;
}
