// A small scenario in memory, and what becomes of it when a line is changed.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/core/diagnostics.h"
#include "models/scenario/read_scenario.h"

namespace zerosim {

// Two nodes of four GPUs, eight ranks. Line numbers are used in the tests' expected texts.
inline std::string SmallScenario() {
  return "name: small\n"                                                           // 1
         "cluster:\n"                                                              // 2
         "  node: tiny_node\n"                                                     // 3
         "  nodes: 2\n"                                                            // 4
         "  fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}\n"  // 5
         "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n"             // 6
         "training:\n"                                                             // 7
         "  sequence_length: 128\n"                                                // 8
         "zero:\n"                                                                 // 9
         "  stage: 3\n";                                                           // 10
}

inline std::map<std::string, std::string> SmallCatalog() {
  return {{"cat/hardware/nodes/tiny_node.yaml",
           "gpu: tiny_gpu\ngpus: 4\ngpu_bandwidth: 100 GB/s\ngpu_latency: 3 us\n"
           "pcie_bandwidth: 12 GB/s\nnics: 2\n"},
          {"cat/hardware/gpus/tiny_gpu.yaml",
           "memory: 16 GiB\npeak: 100 TFLOP/s\nmemory_bandwidth: 1 TB/s\n"},
          {"cat/models/tiny_model.yaml", "layers: 3\nhidden: 32\nheads: 2\nvocabulary: 50\n"}};
}

inline ReadResult ReadSmall(const std::string& text, const std::vector<Override>& set = {},
                            const std::map<std::string, std::string>& more_files = {}) {
  auto files = SmallCatalog();
  for (const auto& [path, content] : more_files) files[path] = content;
  return ReadScenarioText(text, "s.yaml", set, Catalog{{"cat"}}, MemoryFiles(files));
}

// What a user sees of `text`, or "" if it is accepted.
inline std::string ErrorOf(const std::string& text, const std::vector<Override>& set = {},
                           const std::map<std::string, std::string>& more_files = {}) {
  try {
    ReadSmall(text, set, more_files);
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

// SmallScenario with `from` replaced by `to`.
inline std::string Small(const std::string& from, const std::string& to) {
  std::string text = SmallScenario();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace zerosim
