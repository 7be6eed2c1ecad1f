#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/intervals.h"
#include "sim/report_parts.h"

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

// Sums over the calls of one kind.
struct KindSums {
  CollectiveReport report;
  Seconds bound;
  std::map<std::string, Seconds> limits;
  std::map<std::pair<std::string, std::string>, Seconds> chosen;  // algorithm and protocol

  // `count` calls that took `time` together.
  void Add(const Call& call, const LoweredCall& lowered, const NetworkModel& network, int count,
           Seconds time) {
    chosen[{lowered.algorithm, lowered.protocol}] += time;
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
  report->calls =
      std::max<std::int64_t>(1, (2 * report->calls + stages) / (std::int64_t{2} * stages));
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

}  // namespace

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
    const auto most =
        std::max_element(sums[k].chosen.begin(), sums[k].chosen.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != sums[k].chosen.end()) std::tie(kind.algorithm, kind.protocol) = most->first;
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

}  // namespace zerosim
