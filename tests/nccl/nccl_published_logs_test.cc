// The model of NCCL against published logs, with the bounds that validate/README.md states. The
// logs are not part of the repository; where they do not lie beside it, in shared/data/nccl-tests
// or $ZEROSIM_NCCL_LOGS, these tests are skipped.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/zerosim/nccl_validation.h"
#include "validate/error_summary.h"
#include "validate/nccl_clusters.h"
#include "validate/nccl_comparison.h"
#include "validate/nccl_tests_log.h"

namespace zerosim {
namespace {

std::string LogsFolder() {
  const char* given = std::getenv("ZEROSIM_NCCL_LOGS");
  return given != nullptr ? given : ZEROSIM_SOURCE_DIR "/../shared/data/nccl-tests";
}

class PublishedLogs : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(LogsFolder())) GTEST_SKIP() << "no logs in " << LogsFolder();
    const DiskFiles disk;
    clusters_ = ReadNcclClusters(ZEROSIM_SOURCE_DIR "/validate/nccl_clusters.yaml", disk);
    for (const NcclCluster& cluster : clusters_.clusters) {
      for (const NcclRun& run : cluster.runs) {
        const Files::Content content = disk.Read(LogsFolder() + "/" + run.log);
        ASSERT_TRUE(content.text) << run.log << ": " << content.problem;
        logs_.push_back({&run, ReadNcclTestsLog({run.log, *content.text})});
        CompareLog(cluster, run, logs_.back().log, &comparison_);
      }
    }
  }

  ErrorSummary ErrorsOf(const std::vector<std::string>& classes) const {
    std::vector<double> errors;
    for (const NcclPoint& point : comparison_.points) {
      for (const std::string& name : classes) {
        if (NcclSummaryClass(point) == name) errors.push_back(point.error());
      }
    }
    return Summarize(errors);
  }

  struct Log {
    const NcclRun* run;
    NcclTestsLog log;
  };
  NcclClusters clusters_;
  std::vector<Log> logs_;
  NcclComparison comparison_;
};

TEST_F(PublishedLogs, AllHaveAClusterOrAReason) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LogsFolder())) {
    files += entry.path().extension() == ".log";
  }
  EXPECT_EQ(logs_.size() + clusters_.skipped.size(), files);
}

TEST_F(PublishedLogs, AreOfTheRanksThatTheClustersSay) {
  for (const Log& l : logs_) {
    if (l.log.ranks.empty()) continue;
    EXPECT_EQ(static_cast<int>(l.log.ranks.size()), l.run->group.ranks()) << l.run->log;
    EXPECT_EQ(l.log.nodes(), l.run->group.nodes) << l.run->log;
  }
}

// The last line of a log is the mean of what was read, to the two digits of busbw.
TEST_F(PublishedLogs, AddUpToTheirLastLine) {
  int footers = 0;
  for (const Log& l : logs_) {
    if (!l.log.average_busbw || l.log.rows.empty() || !l.log.problems.empty()) continue;
    ++footers;
    const double printed = l.log.average_busbw->gigabytes_per_second();
    EXPECT_NEAR(AverageBusbw(l.log)->gigabytes_per_second(), printed, 0.006 + 2e-3 * printed)
        << l.run->log;
  }
  EXPECT_GE(footers, 170);
}

TEST_F(PublishedLogs, AreReadButForRowsThatOtherOutputCut) {
  for (const Log& l : logs_) {
    const bool interleaved = l.run->log.find("attributed") != std::string::npos;
    EXPECT_EQ(l.log.problems.size(), interleaved ? 6U : 0U) << l.run->log;
  }
}

TEST_F(PublishedLogs, OnInfiniBandArePredictedWithin7And23Percent) {
  const ErrorSummary errors = ErrorsOf({"InfiniBand"});

  EXPECT_GE(errors.count, 290U);
  EXPECT_LE(errors.median, 0.07);
  EXPECT_LE(errors.p90, 0.23);
}

TEST_F(PublishedLogs, OnOneNodeOfH100OrA100ArePredictedWithin5Percent) {
  EXPECT_LE(ErrorsOf({"one node, H100"}).median, 0.05);
  EXPECT_LE(ErrorsOf({"one node, A100"}).median, 0.05);
}

TEST_F(PublishedLogs, ChooseAsLogged) {
  EXPECT_GE(comparison_.choices.size(), 54U);
  for (const NcclChoicePoint& point : comparison_.choices) {
    EXPECT_TRUE(point.agrees()) << point.run->log << ":" << point.logged.line;
  }
}

// Where no choice is logged a jump shows it: on Alps a ring with LL is kept up to 1 MiB, 912 us,
// and a tree takes 128 us for 2 MiB.
TEST_F(PublishedLogs, SwitchOnAlpsWhereTheTimesJump) {
  for (const NcclPoint& point : comparison_.points) {
    if (point.run->log != "alps_gh200_ofi1130_default_allreduce_n002.log") continue;
    const auto bytes = point.size.count();
    ASSERT_TRUE(point.predicted.choice);
    if (bytes == 1 << 20) {
      EXPECT_EQ(point.predicted.choice->protocol, NcclProtocol::kLl);
    }
    if (bytes == 1 << 21) {
      EXPECT_EQ(point.predicted.choice->protocol, NcclProtocol::kSimple);
    }
  }
}

}  // namespace
}  // namespace zerosim
