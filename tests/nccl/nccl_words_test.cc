#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/nccl/nccl.h"
#include "models/nccl/overrides.h"

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(NcclNames, AreReadAsEnvironmentLogsAndTestsWriteThem) {
  EXPECT_THAT(ParseNcclAlgorithm("nvlstree"), Optional(NcclAlgorithm::kNvlsTree));
  EXPECT_THAT(ParseNcclAlgorithm("NVLS_TREE"), Optional(NcclAlgorithm::kNvlsTree));
  EXPECT_THAT(ParseNcclProtocol("SIMPLE"), Optional(NcclProtocol::kSimple));
  EXPECT_THAT(ParseNcclCollective("AllReduce"), Optional(NcclCollective::kAllReduce));
  EXPECT_THAT(ParseNcclCollective("alltoall"), Optional(NcclCollective::kAllToAll));
  EXPECT_EQ(ParseNcclAlgorithm("rings"), std::nullopt);
}

TEST(NcclVersion, IsReadFromTextAndNumber) {
  EXPECT_THAT(ParseNcclVersion("2.26.2+cuda12.8"), Optional(NcclVersion{2, 26, 2}));
  EXPECT_THAT(ParseNcclVersion("2.18"), Optional(NcclVersion{2, 18, 99}));
  for (const char* wrong : {"", "2", "2.", "2.x", "2.18.", "2.1.1.1", "-2.1", "2.-1"}) {
    EXPECT_EQ(ParseNcclVersion(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(NcclVersionOf(22902), (NcclVersion{2, 29, 2}));
  EXPECT_EQ(NcclVersionOf(2604), (NcclVersion{2, 6, 4}));
  EXPECT_EQ(Name(NcclVersion{2, 9, 10}), "2.9.10");
  EXPECT_LT((NcclVersion{2, 9, 10}), (NcclVersion{2, 12, 7}));
}

TEST(NcclOverrides, ListWhatIsEnabled) {
  NcclOverrides overrides;

  EXPECT_EQ(SetProtocols("LL,simple", &overrides), std::nullopt);

  for (const auto& enabled : overrides.protocols) {
    EXPECT_THAT(enabled, Optional(ElementsAre(true, false, true)));
  }
}

TEST(NcclOverrides, LeaveOutWhatACaretPrecedes) {
  NcclOverrides overrides;

  EXPECT_EQ(SetAlgorithms("^NVLS,tree", &overrides), std::nullopt);

  EXPECT_THAT(overrides.algorithms[0],
              Optional(ElementsAre(false, true, true, true, false, true, true)));
}

TEST(NcclOverrides, MayNameACollective) {
  NcclOverrides overrides;

  EXPECT_EQ(SetProtocols("Simple;allreduce:^Simple", &overrides), std::nullopt);

  EXPECT_THAT(overrides.protocols[Index(NcclCollective::kAllGather)],
              Optional(ElementsAre(false, false, true)));
  EXPECT_THAT(overrides.protocols[Index(NcclCollective::kAllReduce)],
              Optional(ElementsAre(true, true, false)));
}

TEST(NcclOverrides, SayWhatIsWrongAndChangeNothing) {
  NcclOverrides overrides;

  EXPECT_THAT(SetAlgorithms("ring,rings", &overrides),
              Optional(std::string("expected Tree, Ring, CollNetDirect, CollNetChain, NVLS, "
                                   "NVLSTree or PAT, got \"rings\"")));
  EXPECT_THAT(SetProtocols("LL;Simple", &overrides),
              Optional(std::string("expected a collective and \":\" before \"Simple\"")));
  EXPECT_THAT(SetProtocols("alltoall:LL", &overrides),
              Optional(std::string("expected AllReduce, AllGather, ReduceScatter, Broadcast or "
                                   "Reduce before \":\", got \"alltoall\"")));
  EXPECT_THAT(SetProtocols("", &overrides),
              Optional(std::string("expected LL, LL128 or Simple, got \"\"")));
  for (const auto& enabled : overrides.protocols) EXPECT_EQ(enabled, std::nullopt);
}

}  // namespace
}  // namespace zerosim
