// What printing costs; a report is printed once for each of the scenarios of a sweep.
#include <benchmark/benchmark.h>

#include "tests/tools/sample_report.h"
#include "tools/zerosim/report_json.h"
#include "tools/zerosim/report_text.h"

namespace zerosim {
namespace {

void ReportAsText(benchmark::State& state) {
  const StepReport report = SampleReport();
  for (auto _ : state) benchmark::DoNotOptimize(ReportText(report));
}
BENCHMARK(ReportAsText);

void ReportAsJson(benchmark::State& state) {
  const StepReport report = SampleReport();
  for (auto _ : state) benchmark::DoNotOptimize(ReportJson(report).dump(2));
}
BENCHMARK(ReportAsJson);

}  // namespace
}  // namespace zerosim
