// Any bytes as a configuration of another framework: it is read, or refused with a ScenarioError.
// Whatever else happens (a crash, another exception, a hang) is a fault.
//
// The first byte chooses what the rest is: a ds_config.json beside a scenario, or by itself, or a
// GPT-NeoX file in either way.
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/core/diagnostics.h"
#include "models/frameworks/import.h"
#include "models/scenario/read_scenario.h"

namespace {

constexpr const char* kCluster =
    "cluster:\n"
    "  node:\n"
    "    gpu: {memory: 16 GiB, peak: 100 TFLOP/s, memory_bandwidth: 1 TB/s}\n"
    "    gpus: 4\n"
    "    gpu_bandwidth: 100 GB/s\n"
    "    gpu_latency: 3 us\n"
    "    pcie_bandwidth: 12 GB/s\n"
    "    nics: 2\n"
    "  nodes: 2\n"
    "  fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}\n";

void ReadBeside(const std::string& name, const std::string& sections, const std::string& config) {
  const zerosim::MemoryFiles files({{name, config}});
  zerosim::ReadScenarioText(kCluster + sections, "fuzz.yaml", {}, {}, files);
}

void ReadAlone(zerosim::Framework framework, const std::string& config) {
  const zerosim::ImportFacts facts{.ranks = 8, .hidden = 64, .vocabulary = 100};
  zerosim::ImportFile(framework, "config", facts, zerosim::MemoryFiles({{"config", config}}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string config(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (data[0] % 6) {
      case 0:
        ReadBeside("ds.json",
                   "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}\n"
                   "training: {sequence_length: 128}\n"
                   "zero: {deepspeed_config: ds.json}\n",
                   config);
        break;
      case 1:
        ReadAlone(zerosim::Framework::kDeepSpeed, config);
        break;
      case 2:
        ReadBeside("n.yml", "neox: n.yml\nmodel: {vocabulary: 100}\n", config);
        break;
      case 3:
        ReadAlone(zerosim::Framework::kNeox, config);
        break;
      case 4:
        ReadBeside("config.json",
                   "model: {huggingface: config.json}\n"
                   "training: {sequence_length: 128}\n"
                   "zero: {stage: 3}\n",
                   config);
        break;
      default:
        ReadAlone(zerosim::Framework::kHuggingFace, config);
        break;
    }
  } catch (const zerosim::ScenarioError&) {
  }
  return 0;
}
