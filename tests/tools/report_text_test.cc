#include "tools/zerosim/report_text.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/sample_report.h"

namespace zerosim {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportText, HasNoLineOfMoreThanAHundredColumns) {
  std::istringstream lines(ReportText(SampleReport()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ReportText, GivesShares) {
  const std::string text = ReportText(SampleReport());
  // 0.8 s of 2 s: 40 %, as 16 of 40 cells.
  EXPECT_THAT(text, HasSubstr("  exposed communication         800 ms    40.0 %\n"));
  EXPECT_THAT(text, HasSubstr("  link nic                    800 ms   40.0 %  ################\n"));
  // 16 GB of 32 GB.
  EXPECT_THAT(text,
              HasSubstr("  peak                   16.0 GB    50.0 %  ####################\n"));
}

TEST(ReportText, SaysWhatCollectivesTakeFromKernelsOnlyIfTheyDo) {
  StepReport report = SampleReport();
  EXPECT_THAT(ReportText(report),
              HasSubstr("    kernels slowed by it          150 ms     7.5 %\n"));

  report.kernel_slowdown = Seconds();

  EXPECT_THAT(ReportText(report), Not(HasSubstr("slowed")));
}

TEST(ReportText, SaysThatKernelsBesideComputeDoNotQuantizeOnly) {
  EXPECT_THAT(ReportText(SampleReport()),
              HasSubstr("    quantization and copies      12.5 ms     0.6 %\n"));
}

TEST(ReportText, CountsOneInTheSingular) {
  StepReport report = SampleReport();
  EXPECT_THAT(ReportText(report), HasSubstr("\n1,240 activities on 6 link classes simulated\n"));

  report.world_size = report.link_classes = 1;
  report.activities = 1;

  EXPECT_THAT(ReportText(report), HasSubstr("\n  1 GPU, 1.50 billion parameters, "));
  EXPECT_THAT(ReportText(report), HasSubstr("\n1 activity on 1 link class simulated\n"));
}

TEST(ReportText, GivesBytesInUnitsOfTheModel) {
  // 1.125 GB of 3 GB.
  EXPECT_THAT(ReportText(SampleReport()),
              HasSubstr("  out of one node                 1.12 GB  0.375 M\n"));
}

TEST(ReportText, SaysThatAStepDoesNotFit) {
  StepReport report = SampleReport();
  EXPECT_THAT(ReportText(report), Not(HasSubstr("DOES NOT FIT")));
  report.memory.fits = false;
  EXPECT_THAT(ReportText(report), HasSubstr("DOES NOT FIT"));
}

TEST(ReportText, DoesNotDependOnHowLongTheSimulationTook) {
  StepReport slow = SampleReport();
  slow.wall_s = 12;
  EXPECT_EQ(ReportText(slow), ReportText(SampleReport()));
}

TEST(ReportText, OfAnEmptyReportDividesByNothing) {
  const std::string text = ReportText(StepReport());
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace zerosim
