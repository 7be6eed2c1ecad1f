#include <algorithm>
#include <cmath>

#include "sim/critical_path.h"
#include "sim/report.h"

namespace zerosim {
namespace {

// How far a part of the step may be off, to either side.
class Spread {
 public:
  // A part that takes `time` when a rate has its value; the rate may lie from low to high.
  void AddRate(Seconds time, const Parameter& rate) {
    if (rate.value <= 0) return;
    if (rate.low > 0) AddHigh((rate.value / rate.low - 1) * time);
    if (rate.high > 0) AddLow((1 - rate.value / rate.high) * time);
  }
  // A part that grows with the parameter.
  void AddCost(Seconds time, const Parameter& cost) {
    if (cost.value <= 0) return;
    AddHigh((cost.high / cost.value - 1) * time);
    AddLow((1 - cost.low / cost.value) * time);
  }
  void AddHigh(Seconds s) { high_ += std::max(0.0, s.seconds()) * std::max(0.0, s.seconds()); }
  void AddLow(Seconds s) { low_ += std::max(0.0, s.seconds()) * std::max(0.0, s.seconds()); }
  Seconds low() const { return Seconds::Count(std::sqrt(low_)); }
  Seconds high() const { return Seconds::Count(std::sqrt(high_)); }

 private:
  double low_ = 0;
  double high_ = 0;
};

}  // namespace

StepInterval IntervalOf(const Scenario& scenario, const PreparedStep& step,
                        const Timeline& timeline) {
  const Calibration& c = scenario.cluster.calibration;
  const CriticalPath path = CriticalPathOf(step.program, step.calls, step.network, timeline);
  const Seconds between_nodes =
      path.links[NetworkModel::kNic.value] + path.links[NetworkModel::kFabric.value];

  Spread spread;
  spread.AddRate(between_nodes, c.nic_fraction);
  spread.AddRate(path.all_to_all, c.all_to_all_fraction);
  spread.AddRate(path.links[NetworkModel::kGpuLink.value], c.gpu_link_fraction);
  spread.AddRate(path.compute, c.gemm_fraction);
  spread.AddRate(path.quantization, c.memory_fraction);
  spread.AddCost(path.nic_latency, c.nic_step_latency);
  spread.AddCost(path.gpu_latency, c.gpu_step_latency);
  spread.AddCost(path.launch, c.collective_launch);
  spread.AddCost(path.host, c.host_hook);
  const int nics = scenario.cluster.fabric.nics_per_node;
  if (c.measured_nics_per_node > 0 && nics > c.measured_nics_per_node) {
    // All transfers between nodes, since slower ones may move onto the critical path.
    Seconds transfers;
    for (const LoweredCall& call : step.calls) {
      for (const LoweredStage& stage : call.stages) {
        for (const LinkLoad& load : stage.loads) {
          if (load.link != NetworkModel::kNic) continue;
          const double rate = step.network.links[load.link.value].capacity.bytes_per_second();
          transfers += Seconds::Count(load.occupied / rate);
        }
      }
    }
    const double ratio = static_cast<double>(nics) / c.measured_nics_per_node;
    spread.AddHigh((ratio - 1) * transfers);
  }
  return {timeline.end - spread.low(), timeline.end + spread.high()};
}

}  // namespace zerosim
