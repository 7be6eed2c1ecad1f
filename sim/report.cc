#include "sim/report.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/compute/compute.h"
#include "sim/critical_path.h"
#include "sim/intervals.h"
#include "sim/report_parts.h"

namespace zerosim {
namespace {

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
  AddPhases(step, timeline, &report);
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
