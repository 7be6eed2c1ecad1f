// The reader of nccl-tests output, on small logs written for it.
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validate/nccl_tests_log.h"

namespace zerosim {
namespace {

using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

NcclTestsLog Read(const std::string& text) {
  return ReadNcclTestsLog({"some.log", text});
}

std::vector<std::string> Texts(const std::vector<Diagnostic>& problems) {
  std::vector<std::string> texts;
  for (const Diagnostic& p : problems) texts.push_back(Place(p.where) + ": " + p.what);
  return texts;
}

constexpr const char* kNew =
    "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 agg "
    "iters: 1 "
    "validation: 1 graph: 0\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  36291 on node1 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  36292 on  node2 device  3 [0x46] NVIDIA H100 80GB HBM3 \r\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time\n"
    "           8             2     float     sum      -1    18.74    0.00    0.00       0    "
    "18.69    "
    "0.01    0.01       0\n"
    "  1073741824     268435456     float     sum      -1   198842    5.40    9.45       0   "
    "198926   "
    "5.40    9.46     N/A\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 4.73\n";

TEST(NcclTestsLog, HasHeaderRanksRowsAndAverage) {
  const NcclTestsLog log = Read(kNew);

  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_THAT(log.version, Optional(NcclVersion{2, 29, 2}));
  EXPECT_THAT(log.collective, Optional(NcclCollective::kAllReduce));
  EXPECT_THAT(log.gpus_per_process, Optional(2));
  EXPECT_THAT(log.warmup_iterations, Optional(5));
  EXPECT_THAT(log.iterations, Optional(20));
  ASSERT_THAT(log.ranks, SizeIs(2));
  EXPECT_EQ(log.ranks[1].host, "node2");
  EXPECT_EQ(log.ranks[1].device, 3);
  EXPECT_EQ(log.ranks[1].bus_id, "0x46");
  EXPECT_EQ(log.ranks[1].gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(log.nodes(), 2);
  ASSERT_THAT(log.rows, SizeIs(2));
  const NcclTestsRow& row = log.rows[1];
  EXPECT_EQ(row.line, 10);
  EXPECT_EQ(row.size, Bytes::Count(1073741824));
  EXPECT_EQ(row.count, 268435456);
  EXPECT_EQ(row.operation, "sum");
  EXPECT_THAT(row.root, Optional(-1));
  ASSERT_TRUE(row.out_of_place && row.in_place);
  EXPECT_DOUBLE_EQ(row.out_of_place->time.microseconds(), 198842);
  EXPECT_DOUBLE_EQ(row.in_place->busbw.gigabytes_per_second(), 9.46);
  EXPECT_EQ(row.in_place->wrong, "N/A");
  EXPECT_DOUBLE_EQ(log.average_busbw->gigabytes_per_second(), 4.73);
  EXPECT_NEAR(AverageBusbw(log)->gigabytes_per_second(), 4.73, 1e-9);
}

TEST(NcclTestsLog, OfOldVersionsHasFloatErrorsAndNoRoot) {
  const NcclTestsLog log = Read(
      "#   Rank  0 Pid  62652 on node1 device  0 [0x00] Tesla V100-SXM2-32GB\n"
      "NCCL version 2.4.6+cuda10.0\n"
      "           8             2   float     sum    146.7    0.00    0.00  2e-07    159.1    0.00 "
      "   "
      "0.00  1e-07\n"
      // all_gather: neither operation nor root.
      "          32             8   float    35.24    0.00    0.00    N/A    34.75    0.00    0.00 "
      "   "
      "N/A\n"
      // broadcast: a root alone.
      "          64            16   float       3    35.12    0.00    0.00    N/A    34.89    0.00 "
      "   "
      "0.00    N/A\n"
      // Without the column of errors.
      "         128            32  double     sum       0    35.12    0.00    0.00    34.89    "
      "0.00    "
      "0.00\n");

  EXPECT_THAT(Texts(log.problems), IsEmpty());
  EXPECT_THAT(log.version, Optional(NcclVersion{2, 4, 6}));
  ASSERT_THAT(log.rows, SizeIs(4));
  EXPECT_EQ(log.rows[0].in_place->wrong, "1e-07");
  EXPECT_EQ(log.rows[0].root, std::nullopt);
  EXPECT_EQ(log.rows[1].operation, "");
  EXPECT_DOUBLE_EQ(log.rows[1].in_place->time.microseconds(), 34.75);
  EXPECT_THAT(log.rows[2].root, Optional(3));
  EXPECT_DOUBLE_EQ(log.rows[2].out_of_place->time.microseconds(), 35.12);
  EXPECT_EQ(log.rows[3].in_place->wrong, "");
  EXPECT_DOUBLE_EQ(log.rows[3].in_place->time.microseconds(), 34.89);
}

TEST(NcclTestsLog, KeepsSizeZeroAndOneRankAndPlacementsThatAreMissing) {
  const NcclTestsLog log = Read(
      "           0             0   float       0    34.61    0.00    0.00    N/A    34.33    0.00 "
      "   "
      "0.00    N/A\n"
      "    65536    16384     float     sum      -1     2.84   23.06    0.00       0     0.10  "
      "1e+06    "
      "0.00       0\n"
      "     1024      128     float    none      -1    26.43    0.00    0.00       0      N/A     "
      "N/A     "
      "N/A    N/A\n");

  EXPECT_THAT(Texts(log.problems), IsEmpty());
  ASSERT_THAT(log.rows, SizeIs(3));
  EXPECT_EQ(log.rows[0].size, Bytes());
  EXPECT_DOUBLE_EQ(log.rows[1].in_place->algbw.gigabytes_per_second(), 1e6);
  EXPECT_EQ(log.rows[2].in_place, std::nullopt);
}

TEST(NcclTestsLog, FindsRowsBehindPrefixes) {
  const NcclTestsLog log = Read(
      "0: #  Rank  0 Group  0 Pid  1 on a device  0 [0x07] GPU\n"
      "[1,0]<stdout>:  8   2  float  sum  -1  18.74 0.00 0.00  0  18.69 0.01 0.01  0\n");

  EXPECT_THAT(log.ranks, SizeIs(1));
  EXPECT_THAT(log.rows, SizeIs(1));
}

TEST(NcclTestsLog, ReadsWhatNcclChose) {
  const NcclTestsLog log = Read(
      "host:1:1 [0] NCCL INFO 24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p "
      "channels, 8 p2p channels per peer\n"
      "host:1:1 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo NVLS_TREE proto SIMPLE "
      "channel{Lo..Hi}={0..15}\n"
      "host:1:1 [0] NCCL INFO AllGather: 64 Bytes -> Algo 1 proto 0 time 12.3\n"
      "host:1:1 [0] NCCL INFO AllGather: 64 Bytes -> Algo 9 proto 0 time 12.3\n");

  ASSERT_TRUE(log.channels);
  EXPECT_EQ(log.channels->collective, 24);
  EXPECT_EQ(log.channels->point_to_point, 32);
  EXPECT_EQ(log.channels->per_peer, 8);
  ASSERT_THAT(log.choices, SizeIs(2));
  EXPECT_EQ(log.choices[0].algorithm, NcclAlgorithm::kNvlsTree);
  EXPECT_THAT(log.choices[0].channels, Optional(16));
  EXPECT_EQ(log.choices[1].collective, NcclCollective::kAllGather);
  EXPECT_EQ(log.choices[1].protocol, NcclProtocol::kLl);
  EXPECT_EQ(log.choices[1].channels, std::nullopt);
  EXPECT_THAT(
      Texts(log.problems),
      testing::ElementsAre("some.log:4:24: expected a choice as in \"AllReduce: 1024 Bytes -> "
                           "Algo RING proto LL\""));
}

TEST(NcclTestsLog, LeavesOutARowThatOtherOutputCutsAndKeepsTheChoice) {
  const NcclTestsLog log = Read(
      "   268435456      67108864     float     sum      -138dcf168f605:1391:1391 [0] NCCL INFO "
      "AllReduce: "
      "268435456 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}\n");

  EXPECT_THAT(log.rows, IsEmpty());
  EXPECT_THAT(log.choices, SizeIs(1));
  EXPECT_THAT(Texts(log.problems),
              testing::ElementsAre("some.log:1:51: row of 268435456 bytes: expected a time, got "
                                   "\"-138dcf168f605:1391:1391\""));
}

TEST(NcclTestsLog, SaysWhereALineIsMalformed) {
  EXPECT_THAT(
      Texts(Read("\n   8   2  float\n").problems),
      testing::ElementsAre("some.log:2:16: row of 8 bytes: expected two blocks of time, algbw "
                           "and busbw, got nothing"));
  EXPECT_THAT(
      Texts(Read("8 2 float sum -1 1.0 2.0\n").problems),
      testing::ElementsAre("some.log:1:15: row of 8 bytes: expected two blocks of time, algbw "
                           "and busbw, got \"-1\""));
  EXPECT_THAT(
      Texts(Read("8 2 float sum -1 1.0 nan 0 0 1.0 0 0 0\n").problems),
      testing::ElementsAre("some.log:1:22: row of 8 bytes: expected an algbw, got \"nan\""));
  EXPECT_THAT(Texts(Read("99999999999999999999 2 float sum -1 1 0 0 0 1 0 0 0\n").problems),
              testing::ElementsAre("some.log:1:1: expected a number below 2^63"));
  EXPECT_THAT(
      Texts(Read("# Rank x Pid 1 on host device 0 [0x07] GPU\n").problems),
      testing::ElementsAre("some.log:1:3: expected a rank as in \"Rank 0 Pid 1 on host device "
                           "0 [0x07] GPU\""));
}

TEST(NcclTestsLog, SkipsWhatItDoesNotKnow) {
  const NcclTestsLog log =
      Read("# Reducing maxBytes to 26549638485 due to memory limitation\nhello\n");

  EXPECT_THAT(log.rows, IsEmpty());
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_EQ(AverageBusbw(log), std::nullopt);
}

// Any bytes: cut, doubled and replaced at random.
TEST(NcclTestsLog, SurvivesAnyContent) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  const std::string text = std::string(kNew) +
                           "h:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL "
                           "channel{Lo..Hi}={0..3}\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = text;
    for (unsigned edits = random() % 8; edits > 0; --edits) {
      const std::size_t at = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          changed.erase(at, 1 + random() % 20);
          break;
        default:
          changed.insert(at, changed.substr(random() % changed.size(), random() % 20));
          break;
      }
    }
    const NcclTestsLog log = Read(changed);
    for (const NcclTestsRow& row : log.rows) {
      ASSERT_TRUE(row.out_of_place || row.in_place) << changed;
      ASSERT_GE(row.size, Bytes()) << changed;
    }
  }
}

}  // namespace
}  // namespace zerosim
