#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "sim/critical_path.h"
#include "sim/report.h"

namespace zerosim {
namespace {

std::string FractionText(double value) {
  return FormatNumber(value);
}

std::string TimeText(double value) {
  return FormatSeconds(Seconds::Count(value));
}

template <typename Format>
std::string ValueText(const Parameter& p, Format format) {
  if (p.low == p.high) return format(p.value);
  return fmt::format("{} ({} to {})", format(p.value), format(p.low), format(p.high));
}

// Parts of the step, each of which may be off to either side. Parts are independent: their squares
// add up.
class Spread {
 public:
  // A part that takes `time` when a rate has its value; the rate may lie from low to high.
  // Something else is no faster than `cap`: a part that only it limits does not rest on the rate.
  void AddRate(const char* name, Seconds time, const Parameter& rate,
               double cap = std::numeric_limits<double>::infinity()) {
    if (rate.value <= 0) return;
    const double value = std::min(rate.value, cap);
    const double least = rate.low > 0 ? std::min(rate.low, cap) : value;
    const double most = rate.high > 0 ? std::min(rate.high, cap) : value;
    if (least >= cap) return;
    Add({name, ValueText(rate, FractionText), rate.source, (1 - value / most) * time,
         (value / least - 1) * time},
        time);
  }

  // A part that grows with the parameter. Less of it brings at most `gain`: then something else
  // limits the step.
  void AddCost(const char* name, Seconds time, const Parameter& cost,
               Seconds gain = Seconds::Count(std::numeric_limits<double>::infinity())) {
    if (cost.value <= 0) return;
    Add({name, ValueText(cost, TimeText), cost.source,
         std::min((1 - cost.low / cost.value) * time, gain), (cost.high / cost.value - 1) * time},
        time);
  }

  // `time` is what the part takes of the step; a part that takes nothing rests on no parameter.
  void Add(ParameterUsed part, Seconds time) {
    if (time <= Seconds()) return;
    part.faster = std::max(part.faster, Seconds());
    part.slower = std::max(part.slower, Seconds());
    parts_.push_back(std::move(part));
  }

  StepInterval Around(Seconds step) && {
    double low = 0;
    double high = 0;
    for (const ParameterUsed& part : parts_) {
      low += part.faster.seconds() * part.faster.seconds();
      high += part.slower.seconds() * part.slower.seconds();
    }
    std::stable_sort(parts_.begin(), parts_.end(), [](const auto& a, const auto& b) {
      return a.faster + a.slower > b.faster + b.slower;
    });
    return {step - Seconds::Count(std::sqrt(low)), step + Seconds::Count(std::sqrt(high)),
            std::move(parts_)};
  }

 private:
  std::vector<ParameterUsed> parts_;
};

// Time of all transfers between nodes if none overlapped, since slower ones may move onto the
// critical path.
Seconds TransfersBetweenNodes(const PreparedStep& step) {
  Seconds transfers;
  for (const LoweredCall& call : step.calls) {
    for (const LoweredStage& stage : call.stages) {
      for (const LinkLoad& load : stage.loads) {
        // Of the first stage of a pipeline; the others send about as much.
        if (load.link != NetworkModel::kNic) continue;
        const double rate = step.network.links[load.link.value].capacity.bytes_per_second();
        transfers += Seconds::Count(load.occupied / rate);
      }
    }
  }
  return transfers;
}

// Kernels of the compute stream follow each other: those of the busiest ranks, at the fastest that
// the calibration leaves open.
Seconds LeastOfKernels(const PreparedStep& step, const Calibration& calibration) {
  std::vector<Seconds> busy(step.program.rank_classes.size());
  for (const Op& op : step.program.ops) {
    if (op.kind == OpKind::kKernel && op.stream == Stream::kCompute) busy[op.rank_class] += op.time;
  }
  const Seconds most = busy.empty() ? Seconds() : *std::ranges::max_element(busy);
  const Parameter& gemm = calibration.gemm_fraction;
  return std::min(1.0, gemm.high > 0 ? gemm.value / gemm.high : 1.0) * most;
}

// What the calibration leaves open of links, where its rates and latencies are those of
// collectives.
void AddLinks(const ClusterSpec& cluster, const CriticalPath& path, Spread* spread) {
  const Calibration& c = cluster.calibration;
  const Seconds between_nodes =
      path.links[NetworkModel::kNic.value] + path.links[NetworkModel::kFabric.value];
  spread->AddRate("nic_fraction", between_nodes, c.nic_fraction, PcieFraction(cluster));
  spread->AddRate("all_to_all_fraction", path.all_to_all, c.all_to_all_fraction);
  spread->AddRate("gpu_link_fraction", path.links[NetworkModel::kGpuLink.value],
                  c.gpu_link_fraction);
  spread->AddCost("nic_step_latency", path.nic_latency, c.nic_step_latency);
  spread->AddCost("gpu_step_latency", path.gpu_latency, c.gpu_step_latency);
  spread->AddCost("collective_launch", path.launch, c.collective_launch);
}

// Of collectives that are timed as NCCL's: the 90th percentile of errors of time against logs of
// nccl-tests on InfiniBand (validate/README.md).
constexpr double kNcclError = 0.23;

void AddNccl(const CriticalPath& path, Spread* spread) {
  Seconds time = path.nic_latency + path.gpu_latency;
  for (const LinkId link : {NetworkModel::kGpuLink, NetworkModel::kNic, NetworkModel::kFabric}) {
    time += path.links[link.value];
  }
  spread->Add({"nccl_time", fmt::format("{} (either side)", FractionText(kNcclError)),
               "90th percentile of errors against nccl-tests, validate/README.md",
               kNcclError * time, kNcclError * time},
              time);
}

}  // namespace

StepInterval IntervalOf(const Scenario& scenario, const PreparedStep& step,
                        const Timeline& timeline) {
  const Calibration& c = scenario.cluster.calibration;
  const CriticalPath path = CriticalPathOf(step.program, step.calls, timeline);

  Spread spread;
  if (scenario.times_collectives()) {
    AddNccl(path, &spread);
  } else {
    AddLinks(scenario.cluster, path, &spread);
  }
  spread.AddRate("gemm_fraction", path.compute, c.gemm_fraction);
  spread.AddRate("memory_fraction", path.quantization, c.memory_fraction);
  spread.AddRate("host_memory_fraction", path.host_optimizer, c.host_memory_fraction);
  const Seconds kernels = LeastOfKernels(step, c);
  spread.AddCost("host_hook", path.host, c.host_hook, std::max(timeline.end - kernels, Seconds()));
  const int nics = scenario.cluster.fabric.nics_per_node;
  if (!scenario.times_collectives() && c.measured_nics_per_node > 0 &&
      nics > c.measured_nics_per_node) {
    const double ratio = static_cast<double>(nics) / c.measured_nics_per_node;
    const Seconds transfers = TransfersBetweenNodes(step);
    spread.Add(
        {"nics_per_node", fmt::format("{} (measured with {})", nics, c.measured_nics_per_node),
         "the calibration does not say how rates grow with NICs", Seconds(),
         (ratio - 1) * transfers},
        transfers);
  }
  StepInterval interval = std::move(spread).Around(timeline.end);
  interval.low = std::max(interval.low, std::min(kernels, timeline.end));
  return interval;
}

}  // namespace zerosim
