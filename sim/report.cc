#include "sim/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/compute/compute.h"
#include "models/core/units_text.h"
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
    case CollectiveOp::kSend:
      return "send";
    case CollectiveOp::kCopyToHost:
      return "copy_to_host";
    case CollectiveOp::kCopyToGpu:
      return "copy_to_gpu";
  }
  return "?";
}

// busbw over algbw, as nccl-tests defines it (doc/PERFORMANCE.md).
double BusFactor(CollectiveOp op, int n) {
  if (op == CollectiveOp::kSend || IsCopy(op)) return 1;
  const double part = static_cast<double>(n - 1) / n;
  return op == CollectiveOp::kAllReduce ? 2 * part : part;
}

bool OnCompute(const Op& op) {
  return op.kind == OpKind::kKernel && op.stream == Stream::kCompute;
}

std::vector<Interval> ComputeIntervals(const StepProgram& program, const Timeline& timeline,
                                       int rank_class) {
  std::vector<Interval> busy;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (OnCompute(op) && op.rank_class == rank_class) busy.push_back(timeline.ops[i]);
  }
  return UnionOf(std::move(busy));
}

// Differences of the clock's values are off by its rounding, to either side.
Seconds WithoutDust(Seconds time, Seconds clock) {
  return time.seconds() > 1e-12 * clock.seconds() ? time : Seconds();
}

// Sums over the calls of one kind.
struct KindSums {
  CollectiveReport report;
  Seconds bound;
  std::map<std::string, Seconds> limits;

  // `count` calls that took `time` together.
  void Add(const Call& call, const LoweredCall& lowered, const NetworkModel& network, int count,
           Seconds time) {
    report.algorithm = lowered.algorithm;
    report.calls += std::int64_t{count} * call.launches;
    report.payload += count * call.payload;
    report.wire += count * call.full;
    report.node_egress += count * lowered.node_egress;
    report.in_node_per_gpu += count * lowered.in_node_per_gpu;
    report.time += time;
    bound += count * lowered.bound;
    Seconds latency = lowered.launch;
    for (const LoweredStage& stage : lowered.stages) latency += stage.latency;
    limits["latency"] += count * latency;
    if (lowered.bottleneck.value >= 0) {
      limits[network.KindName(lowered.bottleneck)] += count * (lowered.alone - latency);
    }
  }
};

// Sums over the stages of a pipeline become those of a mean stage: what one rank does.
void Average(int stages, CollectiveReport* report) {
  const auto mean = [&](Bytes sum) { return Bytes::Count(sum.count() / stages); };
  // To the nearest: what few stages do at all is not nothing.
  report->calls = std::max<std::int64_t>(1, (2 * report->calls + stages) / (2 * stages));
  report->payload = mean(report->payload);
  report->wire = mean(report->wire);
  report->in_node_per_gpu = mean(report->in_node_per_gpu);
  report->time = 1.0 / stages * report->time;
  report->exposed = 1.0 / stages * report->exposed;
}

// Sends between different stages have kinds of their own and one name.
void MergeKind(CollectiveReport kind, std::vector<CollectiveReport>* kinds) {
  const auto same = std::find_if(kinds->begin(), kinds->end(), [&](const CollectiveReport& other) {
    return other.name == kind.name && other.op == kind.op && other.group == kind.group;
  });
  if (same == kinds->end()) {
    kinds->push_back(std::move(kind));
    return;
  }
  same->calls += kind.calls;
  same->payload += kind.payload;
  same->wire += kind.wire;
  same->node_egress += kind.node_egress;
  same->in_node_per_gpu += kind.in_node_per_gpu;
  same->time += kind.time;
  same->exposed += kind.exposed;
  if (same->time > Seconds()) same->algbw = same->busbw = same->wire / same->time;
}

void AddCollectives(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  const StepProgram& program = step.program;
  const int stages = static_cast<int>(program.rank_classes.size());
  const std::size_t n = program.kinds.size();
  std::vector<KindSums> sums(n);
  Seconds inside;  // of compute operations: always exposed

  for (int stage = 0; stage < stages; ++stage) {
    const std::vector<Interval> compute = ComputeIntervals(program, timeline, stage);
    std::vector<std::vector<Interval>> when(n);
    std::vector<Interval> of_stage;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.rank_class != stage) continue;
      ForEachCall(op, [&](CallId id, int count) {
        const Call& call = program.calls[id.value];
        // One rank alone moves nothing.
        if (program.kinds[call.kind].group.size == 1) return;
        const LoweredCall& lowered = step.calls[id.value];
        const bool own = op.kind == OpKind::kCollective;
        const Seconds time =
            own ? timeline.ops[i].end - timeline.ops[i].start - op.time : count * lowered.alone;
        sums[call.kind].Add(call, lowered, step.network, count, time);
        if (own) {
          when[call.kind].push_back(timeline.ops[i]);
          of_stage.push_back(timeline.ops[i]);
        } else {
          sums[call.kind].report.exposed += time;
          inside += time;
        }
      });
    }
    for (std::size_t k = 0; k < n; ++k) {
      sums[k].report.exposed += LengthOutside(UnionOf(std::move(when[k])), compute);
    }
    const std::vector<Interval> communication = UnionOf(std::move(of_stage));
    report->communication += 1.0 / stages * LengthOf(communication);
    report->exposed_communication += 1.0 / stages * LengthOutside(communication, compute);
  }
  report->communication += 1.0 / stages * inside;
  report->exposed_communication += 1.0 / stages * inside;

  const std::int64_t node_classes = CeilDiv(stages, step.network.stages_per_node());
  std::vector<CollectiveReport> kinds;
  for (std::size_t k = 0; k < n; ++k) {
    const CallKind& source = program.kinds[k];
    if (source.group.size == 1) continue;
    CollectiveReport& kind = sums[k].report;
    kind.name = source.name;
    kind.op = NameOf(source.op);
    kind.group = source.group_name;
    kind.group_size = source.group.size;
    kind.protocol = "simple";
    kind.time = WithoutDust(kind.time, timeline.end);
    kind.exposed = WithoutDust(kind.exposed, timeline.end);
    const double factor = BusFactor(source.op, source.group.size);
    if (kind.time > Seconds()) kind.algbw = kind.wire / kind.time;
    kind.busbw = factor * kind.algbw;
    if (sums[k].bound > Seconds()) kind.bound = factor * (kind.wire / sums[k].bound);
    const auto limit =
        std::max_element(sums[k].limits.begin(), sums[k].limits.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (limit != sums[k].limits.end()) kind.bottleneck = limit->first;
    kind.node_egress = Bytes::Count(kind.node_egress.count() / node_classes);
    report->node_egress += kind.node_egress;
    MergeKind(std::move(kind), &kinds);
  }
  if (stages > 1) {
    for (CollectiveReport& kind : kinds) Average(stages, &kind);
  }
  report->communication = WithoutDust(report->communication, timeline.end);
  report->exposed_communication = WithoutDust(report->exposed_communication, timeline.end);
  report->collectives = std::move(kinds);
}

void AddBusy(const StepProgram& program, StepReport* report) {
  const double part = 1.0 / static_cast<double>(program.rank_classes.size());
  for (const Op& op : program.ops) {
    if (OnCompute(op)) {
      report->compute += part * op.time;
    } else if (op.kind != OpKind::kHost) {
      report->quantization += part * op.time;
    }
  }
}

// Forward, backward and optimizer follow each other: the host waits where one ends.
void AddPhases(const StepProgram& program, const Timeline& timeline, StepReport* report) {
  std::map<std::pair<int, Phase>, Seconds> ends;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    Seconds& end = ends[{program.ops[i].micro_step, program.ops[i].phase}];
    end = std::max(end, timeline.ops[i].end);
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

// Passes of different micro-batches interleave in a pipeline: of each stage the time in forward, in
// backward and between them until the last pass of all stages (the bubble); their means.
void AddPhasesOfStages(const StepProgram& program, const Timeline& timeline, StepReport* report) {
  const double part = 1.0 / static_cast<double>(program.rank_classes.size());
  Seconds last;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!OnCompute(op) || op.phase == Phase::kOptimizer) continue;
    const Seconds length = timeline.ops[i].end - timeline.ops[i].start;
    (op.phase == Phase::kForward ? report->forward : report->backward) += part * length;
    last = std::max(last, timeline.ops[i].end);
  }
  report->bubble = last - report->forward - report->backward;
  report->optimizer = timeline.end - last;
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

// An event belongs to what the host launches next, not to the launching.
std::string LaunchedAtPeak(const StepProgram& program, const MemoryWalk& walk) {
  int at = walk.peak_next.value >= 0 ? walk.peak_next.value : walk.peak_op.value + 1;
  const int last = static_cast<int>(program.ops.size()) - 1;
  while (at < last && program.ops[at].kind == OpKind::kHost) ++at;
  return zerosim::NameOf(program, OpId{std::min(at, last)});
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
  memory.host_per_node = scenario.cluster.node.gpus * step.always.host;
  memory.host_capacity = scenario.cluster.node.host_memory;
  memory.host_fits =
      memory.host_capacity == Bytes() || memory.host_per_node <= memory.host_capacity;
  memory.peak_at = fmt::format("{}, {:.3f} s", LaunchedAtPeak(step.program, walk),
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
  if (largest == nullptr) return;
  if (largest->bits < 16) {
    // Kept quantised, and never again: one event whatever travels.
    const QuantizationFormat kept = FrozenFormat(largest->bits);
    const QuantizedSize shard = QuantizedSizeOf(
        CeilDiv(largest->tensor_elements(), ProcessGroupsOf(scenario).shard.size), kept);
    report->weights_forward = report->weights_backward = PathOf(1, kept, shard.group_size);
  }
  if (!scenario.shards_weights()) return;
  const ProcessGroups groups = ProcessGroupsOf(scenario);
  const int world = groups.shard.size;
  if (const auto& format = scenario.quantized_weights(); format && largest->bits == 16) {
    const QuantizedSize shard =
        QuantizedSizeOf(CeilDiv(largest->tensor_elements(), world), *format);
    report->weights_forward = PathOf(1, *format, shard.group_size);
    // hpZ's shard holds values that were quantised once, and quantises them again.
    report->weights_backward =
        PathOf(scenario.secondary_size() > 1 ? 2 : 1, *format, shard.group_size);
  }
  // Stage 3 without reduce_scatter sums its buckets in 16 bit.
  const bool sums_buckets =
      !scenario.fsdp && scenario.zero.collective() == GradientCollective::kAllReduce;
  if (scenario.quantized_gradients() && groups.across.size > 1 && !sums_buckets) {
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
  const int stages = static_cast<int>(step.program.rank_classes.size());
  Seconds busy;
  for (int stage = 0; stage < stages; ++stage) {
    busy += 1.0 / stages * LengthOf(ComputeIntervals(step.program, timeline, stage));
  }
  const double compute = Ratio(busy, report->step);
  report->bottlenecks.push_back({"gpu compute", compute, compute});
  std::stable_sort(
      report->bottlenecks.begin(), report->bottlenecks.end(),
      [](const Bottleneck& a, const Bottleneck& b) { return a.utilization > b.utilization; });
}

void AddCriticalPath(const PreparedStep& step, const Timeline& timeline, StepReport* report) {
  const CriticalPath path = CriticalPathOf(step.program, step.calls, timeline);
  const auto add = [&](const std::string& cause, Seconds time) {
    if (time > Seconds()) report->critical_path.push_back({cause, time});
  };
  add("compute", path.compute);
  for (std::size_t l = 0; l < path.links.size(); ++l) {
    add("transfer on " + step.network.KindName(LinkId{static_cast<int>(l)}), path.links[l]);
  }
  add("latency between nodes", path.nic_latency);
  add("latency in the node", path.gpu_latency);
  add("launch of collectives", path.launch);
  add("quantization and copies", path.quantization);
  add("host", path.host);
  add("optimizer on the CPU", path.host_optimizer);
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
      warning += "none of the changes tried makes it fit";
    }
    report->warnings.push_back(std::move(warning));
  }
  if (!memory.host_fits) {
    report->warnings.push_back(
        fmt::format("does not fit: offload needs {:.1f} GB of the {:.1f} GB of a node's memory "
                    "(cluster.node.host_memory); more nodes, or less offload, would need less",
                    memory.host_per_node.gigabytes(), memory.host_capacity.gigabytes()));
  }
  const double peak = scenario.cluster.node.gpu.peak.teraflops_per_second();
  if (report->hardware_tflops_per_gpu > peak) {
    report->warnings.push_back(fmt::format(
        "beyond the hardware: {:.0f} TFLOP/s a GPU with recomputation, of a peak of {:.0f}; "
        "compute.mfu counts model FLOP only",
        report->hardware_tflops_per_gpu, peak));
  }
  const Calibration& calibration = scenario.cluster.calibration;
  // Within the range of what the NIC achieves the slot may bind or not.
  if (scenario.cluster.nodes > 1 && PcieFraction(scenario.cluster) < calibration.nic_fraction.low) {
    report->warnings.push_back(fmt::format(
        "the NIC's {:.4g} Gbps is capped by pcie_bandwidth {}; more NIC bandwidth has no effect",
        8 * scenario.cluster.fabric.nic_bandwidth.gigabytes_per_second(),
        FormatRate(scenario.cluster.node.pcie_bandwidth)));
  }
  const int nics = scenario.cluster.fabric.nics_per_node;
  if (calibration.measured_nics_per_node > 0 && nics > calibration.measured_nics_per_node) {
    report->warnings.push_back(fmt::format(
        "extrapolates: calibration {} saw {} NIC{} a node, not {}; the interval reaches down to no "
        "gain from the others",
        calibration.name, calibration.measured_nics_per_node,
        calibration.measured_nics_per_node == 1 ? "" : "s", nics));
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
  report.trainable_parameters = step.trainable_parameters;
  report.model = Bytes::Count(2 * report.parameters);
  report.step = timeline.end;
  StepInterval interval = IntervalOf(scenario, step, timeline);
  report.step_low = interval.low;
  report.step_high = interval.high;
  report.parameters_used = std::move(interval.parameters);
  AddBusy(step.program, &report);
  if (step.network.has_pipeline()) {
    AddPhasesOfStages(step.program, timeline, &report);
  } else {
    AddPhases(step.program, timeline, &report);
  }
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
