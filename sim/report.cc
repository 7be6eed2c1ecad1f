#include "sim/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/parallel/scenario_groups.h"
#include "models/quantization/quantization.h"
#include "sim/critical_path.h"
#include "sim/fit.h"
#include "sim/intervals.h"

namespace zerosim {
namespace {

const char* NameOf(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllGather:
      return "all_gather";
    case CollectiveOp::kReduceScatter:
      return "reduce_scatter";
    case CollectiveOp::kAllReduce:
      return "all_reduce";
    case CollectiveOp::kAllToAll:
      return "all_to_all";
  }
  return "?";
}

// busbw over algbw, as nccl-tests defines it (doc/PERFORMANCE.md).
double BusFactor(CollectiveOp op, int n) {
  const double part = static_cast<double>(n - 1) / n;
  return op == CollectiveOp::kAllReduce ? 2 * part : part;
}

bool OnCompute(const Op& op) {
  return op.kind == OpKind::kKernel && op.stream == Stream::kCompute;
}

std::vector<Interval> ComputeIntervals(const StepProgram& program, const Timeline& timeline) {
  std::vector<Interval> busy;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    if (OnCompute(program.ops[i])) busy.push_back(timeline.ops[i]);
  }
  return UnionOf(std::move(busy));
}

void AddCollectives(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  const StepProgram& program = step.program;
  const std::vector<Interval> compute = ComputeIntervals(program, timeline);
  const std::size_t n = program.kinds.size();
  std::vector<CollectiveReport> kinds(n);
  std::vector<std::vector<Interval>> when(n);
  std::vector<Seconds> bound(n);
  std::vector<std::map<std::string, Seconds>> limits(n);
  std::vector<Interval> all;

  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.kind != OpKind::kCollective) continue;
    const Call& call = program.calls[op.call.value];
    const LoweredCall& lowered = step.calls[op.call.value];
    CollectiveReport& kind = kinds[call.kind];
    const Seconds time = timeline.ops[i].end - timeline.ops[i].start - op.time;
    kind.algorithm = lowered.algorithm;
    kind.calls += call.launches;
    kind.payload += call.payload;
    kind.wire += call.full;
    kind.node_egress += lowered.node_egress;
    kind.in_node_per_gpu += lowered.in_node_per_gpu;
    kind.time += time;
    bound[call.kind] += lowered.bound;
    Seconds latency = lowered.launch;
    for (const LoweredStage& stage : lowered.stages) latency += stage.latency;
    limits[call.kind]["latency"] += latency;
    if (lowered.bottleneck.value >= 0) {
      limits[call.kind][step.network.links[lowered.bottleneck.value].name] +=
          lowered.alone - latency;
    }
    when[call.kind].push_back(timeline.ops[i]);
    all.push_back(timeline.ops[i]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const CallKind& source = program.kinds[k];
    CollectiveReport& kind = kinds[k];
    kind.name = source.name;
    kind.op = NameOf(source.op);
    kind.group = source.group_name;
    kind.group_size = source.group.size;
    kind.protocol = "simple";
    kind.exposed = LengthOutside(UnionOf(when[k]), compute);
    const double factor = BusFactor(source.op, source.group.size);
    if (kind.time > Seconds()) kind.algbw = kind.wire / kind.time;
    kind.busbw = factor * kind.algbw;
    if (bound[k] > Seconds()) kind.bound = factor * (kind.wire / bound[k]);
    const auto limit =
        std::max_element(limits[k].begin(), limits[k].end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (limit != limits[k].end()) kind.bottleneck = limit->first;
    report->node_egress += kind.node_egress;
  }
  const std::vector<Interval> communication = UnionOf(std::move(all));
  report->communication = LengthOf(communication);
  report->exposed_communication = LengthOutside(communication, compute);
  report->collectives = std::move(kinds);
}

// Forward, backward and optimizer follow each other: the host waits where one ends.
void AddPhases(const StepProgram& program, const Timeline& timeline, StepReport* report) {
  std::map<std::pair<int, Phase>, Seconds> ends;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    Seconds& end = ends[{op.micro_step, op.phase}];
    end = std::max(end, timeline.ops[i].end);
    if (OnCompute(op)) report->compute += op.time;
    if (op.kind == OpKind::kKernel && op.stream != Stream::kCompute) {
      report->quantization += op.time;
    }
    if (op.kind == OpKind::kCollective) report->quantization += op.time;
  }
  Seconds before;
  for (const auto& [key, end] : ends) {
    Seconds& phase = key.second == Phase::kForward    ? report->forward
                     : key.second == Phase::kBackward ? report->backward
                                                      : report->optimizer;
    phase += end - before;
    before = end;
  }
}

void AddThroughput(const Scenario& scenario, StepReport* report) {
  const StepFlops flops = FlopsOfStep(scenario);
  const double seconds = report->step.seconds();
  const double ranks = scenario.world_size();
  const double samples = static_cast<double>(scenario.training.micro_batch_size) *
                         scenario.training.gradient_accumulation_steps * scenario.sample_ranks();
  report->tflops_per_gpu = flops.model.teraflops() / seconds;
  report->hardware_tflops_per_gpu = flops.hardware.teraflops() / seconds;
  report->mfu = Ratio(flops.model / report->step, scenario.cluster.node.gpu.peak);
  report->samples_per_s = samples / seconds;
  report->tokens_per_s =
      report->samples_per_s * static_cast<double>(scenario.training.sequence_length);
  report->tokens_per_s_per_gpu = report->tokens_per_s / ranks;
}

void AddMemory(const Scenario& scenario, const PreparedStep& step, const Timeline& timeline,
               StepReport* report) {
  const MemoryWalk& walk = step.memory;
  const auto term = [&](MemoryTerm t) { return walk.peak_terms[static_cast<std::size_t>(t)]; };
  MemoryReport& memory = report->memory;
  memory.peak = walk.peak;
  memory.after_step = walk.after_step;
  memory.capacity = scenario.cluster.node.gpu.memory;
  memory.fits = memory.peak <= memory.capacity;
  // The event belongs to what the host launches next.
  const int next = std::min(walk.peak_op.value + 1, static_cast<int>(step.program.ops.size()) - 1);
  memory.peak_at = fmt::format("{}, {:.3f} s", zerosim::NameOf(step.program, OpId{next}),
                               timeline.ops[walk.peak_op.value].end.seconds());
  memory.terms = {term(MemoryTerm::kParameters),     term(MemoryTerm::kGradients),
                  term(MemoryTerm::kOptimizer),      term(MemoryTerm::kSecondaryShard),
                  term(MemoryTerm::kLiveParameters), term(MemoryTerm::kBuffers),
                  term(MemoryTerm::kActivations),    term(MemoryTerm::kLogits),
                  term(MemoryTerm::kContext)};
}

// Expected error of independent events: their squares add up.
QuantizationPath PathOf(int events, const QuantizationFormat& format, std::int64_t group_size) {
  QuantizationPath path;
  path.events = events;
  path.bits = format.bits;
  path.group_size = group_size;
  path.relative_error = std::sqrt(events * RelativeSquaredError(format, group_size));
  return path;
}

void AddQuantization(const Scenario& scenario, const PreparedStep& step, StepReport* report) {
  report->weights_forward.bits = report->weights_backward.bits = report->gradients.bits = 16;
  // The largest matrix of a layer stands for all.
  const Weight* largest = nullptr;
  for (const Weight& w : step.layout.weights) {
    if (!w.is_vector() &&
        (largest == nullptr || w.tensor_elements() > largest->tensor_elements())) {
      largest = &w;
    }
  }
  if (!scenario.shards_weights() || largest == nullptr) return;
  const ProcessGroups groups = ProcessGroupsOf(scenario);
  const int world = groups.shard.size;
  if (const auto& format = scenario.quantized_weights()) {
    const QuantizedSize shard =
        QuantizedSizeOf(CeilDiv(largest->tensor_elements(), world), *format);
    report->weights_forward = PathOf(1, *format, shard.group_size);
    // hpZ's shard holds values that were quantised once, and quantises them again.
    report->weights_backward =
        PathOf(scenario.secondary_size() > 1 ? 2 : 1, *format, shard.group_size);
  }
  if (scenario.quantized_gradients() && groups.across.size > 1) {
    const GradientQuantization& formats = *scenario.quantized_gradients();
    const QuantizedSize first =
        QuantizedSizeOf(largest->tensor_elements(), formats.in_node,
                        std::max({largest->rows, largest->columns, std::int64_t{world}}));
    const int events = formats.two_hops ? 2 : 1;
    const QuantizationFormat& coarser =
        formats.two_hops && formats.between_nodes.bits < formats.in_node.bits
            ? formats.between_nodes
            : formats.in_node;
    report->gradients = PathOf(events, coarser, first.group_size);
  }
}

void AddBottlenecks(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  for (const UtilizationSeries& series : UtilizationOf(step, timeline)) {
    Bottleneck link{series.link, 0, 0};
    for (std::size_t i = 0; i + 1 < series.points.size(); ++i) {
      const Seconds length = series.points[i + 1].first - series.points[i].first;
      link.utilization += series.points[i].second * Ratio(length, report->step);
      if (series.points[i].second > 0.95) link.share_of_step += Ratio(length, report->step);
    }
    report->bottlenecks.push_back(link);
  }
  const Seconds busy = LengthOf(ComputeIntervals(step.program, timeline));
  const double compute = Ratio(busy, report->step);
  report->bottlenecks.push_back({"gpu compute", compute, compute});
  std::stable_sort(
      report->bottlenecks.begin(), report->bottlenecks.end(),
      [](const Bottleneck& a, const Bottleneck& b) { return a.utilization > b.utilization; });
}

void AddCriticalPath(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  const CriticalPath path = CriticalPathOf(step.program, step.calls, step.network, timeline);
  const auto add = [&](const std::string& cause, Seconds time) {
    if (time > Seconds()) report->critical_path.push_back({cause, time});
  };
  add("compute", path.compute);
  for (std::size_t l = 0; l < path.links.size(); ++l) {
    add("transfer on " + step.network.links[l].name, path.links[l]);
  }
  add("latency between nodes", path.nic_latency);
  add("latency in the node", path.gpu_latency);
  add("launch of collectives", path.launch);
  add("quantization and copies", path.quantization);
  add("host", path.host);
  std::stable_sort(report->critical_path.begin(), report->critical_path.end(),
                   [](const CriticalShare& a, const CriticalShare& b) { return a.time > b.time; });
}

void AddWarnings(const Scenario& scenario, StepReport* report) {
  const MemoryReport& memory = report->memory;
  if (!memory.fits) {
    std::string warning = fmt::format("does not fit: needs {:.1f} GB a GPU of {:.1f} GB; ",
                                      memory.peak.gigabytes(), memory.capacity.gigabytes());
    if (const auto change = SmallestFittingChange(scenario)) {
      warning +=
          fmt::format("--set {} would need {:.1f} GB", change->setting, change->peak.gigabytes());
    } else {
      warning += "no change of one key makes it fit";
    }
    report->warnings.push_back(std::move(warning));
  }
  const double peak = scenario.cluster.node.gpu.peak.teraflops_per_second();
  if (report->hardware_tflops_per_gpu > peak) {
    report->warnings.push_back(fmt::format(
        "beyond the hardware: {:.0f} TFLOP/s a GPU with recomputation, of a peak of {:.0f}; "
        "compute.mfu counts model FLOP only",
        report->hardware_tflops_per_gpu, peak));
  }
  const Calibration& calibration = scenario.cluster.calibration;
  const int nics = scenario.cluster.fabric.nics_per_node;
  if (calibration.measured_nics_per_node > 0 && nics > calibration.measured_nics_per_node) {
    report->warnings.push_back(fmt::format(
        "extrapolates: calibration {} saw {} NIC a node, not {}; the interval reaches down to no "
        "gain from the others",
        calibration.name, calibration.measured_nics_per_node, nics));
  }
}

}  // namespace

StepReport MakeReport(const Scenario& scenario, const PreparedStep& step,
                      const Timeline& timeline) {
  StepReport report;
  report.scenario = scenario.name;
  report.engine = timeline.engine;
  report.wall_s = timeline.wall.seconds();
  report.activities = timeline.activities;
  report.link_classes = timeline.link_classes;
  report.world_size = scenario.world_size();
  report.parameters = step.parameters;
  report.model = Bytes::Count(2 * report.parameters);
  report.step = timeline.end;
  StepInterval interval = IntervalOf(scenario, step, timeline);
  report.step_low = interval.low;
  report.step_high = interval.high;
  report.parameters_used = std::move(interval.parameters);
  AddPhases(step.program, timeline, &report);
  AddCollectives(step, timeline, &report);
  report.node_egress_over_model = Ratio(report.node_egress, report.model);
  AddThroughput(scenario, &report);
  AddMemory(scenario, step, timeline, &report);
  AddQuantization(scenario, step, &report);
  AddBottlenecks(step, timeline, &report);
  AddCriticalPath(step, timeline, &report);
  report.warnings = step.program.warnings;
  AddWarnings(scenario, &report);
  return report;
}

}  // namespace zerosim
