// Imports of texts in memory, and what a user sees of them.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "models/core/diagnostics.h"
#include "models/scenario/document.h"
#include "models/topology_files/import_topology.h"

namespace zerosim {

// The import of `text`, a file "t". Its YAML must be one that can be read.
inline ImportedTopology Imported(TopologyFormat format, const std::string& text,
                                 NodeForm form = NodeForm::kNamedIfPossible,
                                 const std::string& gpu = "") {
  const ImportedTopology imported =
      ImportTopology(format, "t", gpu, form, MemoryFiles({{"t", text}}));
  Problems problems;
  ParseDocument(imported.yaml, "t.yaml", &problems);
  EXPECT_FALSE(problems.has_errors()) << imported.yaml;
  return imported;
}

// The errors of the import, or "" if there are none.
inline std::string ImportError(TopologyFormat format, const std::string& text) {
  try {
    Imported(format, text);
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

inline std::string SampleText(const std::string& name) {
  const Files::Content content =
      DiskFiles().Read(ZEROSIM_SOURCE_DIR "/tests/topology_files/samples/" + name);
  return content.text.value();
}

// Those lines of `yaml` that hold `part`, without indentation and comment.
inline std::string LinesWith(const std::string& part, const std::string& yaml) {
  std::string out;
  for (std::size_t begin = 0; begin < yaml.size();) {
    const std::size_t end = yaml.find('\n', begin);
    std::string line = yaml.substr(begin, end - begin);
    begin = end + 1;
    if (line.find(part) == std::string::npos) continue;
    line.erase(0, line.find_first_not_of(' '));
    line = line.substr(0, line.find("  #"));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace zerosim
