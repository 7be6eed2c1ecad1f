// Work that meets against closed forms of max-min sharing, and work that does not against timers.
#include "sim/fluid_platform.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

class FluidPlatformTest : public testing::Test {
 protected:
  FluidPlatformTest() : session_(SharingModel::kParallelTasks), platform_(&session_) {
    for (int i = 0; i < 4; ++i) links_.push_back(platform_.AddLink("link" + std::to_string(i)));
    gpu_ = platform_.AddGpu("gpu", 0.5);
    platform_.Seal();
  }

  // Starts work at `at`; returns its place in ends_.
  std::size_t Add(double at, std::vector<ResourceLoad> loads) {
    const std::size_t place = ends_.size();
    ends_.push_back(-1);
    session_.After(Seconds::Count(at), [this, place, loads = std::move(loads)] {
      platform_.Start(loads, [this, place] { ends_[place] = session_.now().seconds(); });
    });
    return place;
  }
  void SlowGpu(double at, bool slow) {
    session_.After(Seconds::Count(at), [this, slow] { platform_.SetSlow(gpu_, slow); });
  }
  void ExpectEnds(const std::vector<double>& expected) {
    const Seconds end = session_.Run();
    ASSERT_EQ(ends_.size(), expected.size());
    double last = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(ends_[i], expected[i], 1e-9) << "work " << i;
      last = std::max(last, expected[i]);
    }
    // No timer of what was shared later is left.
    EXPECT_NEAR(end.seconds(), last, 1e-9);
  }

  SimGridSession session_;
  FluidPlatform platform_;
  std::vector<int> links_;
  int gpu_ = 0;
  std::vector<double> ends_;
};

TEST_F(FluidPlatformTest, LoneWorkRunsAtThePaceOfItsSlowestResource) {
  Add(0, {{links_[0], 1.0}, {links_[1], 3.0}});
  Add(0.5, {{links_[2], 2.0}});
  ExpectEnds({3.0, 2.5});
}

// From 1 s on, one second of the first is left; two pieces share link 1 and need two seconds each.
TEST_F(FluidPlatformTest, WorkThatMeetsSharesFromThenOn) {
  Add(0, {{links_[0], 1.0}, {links_[1], 2.0}});
  Add(1, {{links_[1], 1.0}});
  ExpectEnds({3.0, 3.0});
}

// The second is slowed by link 2 alone, and link 1 has 0.5 of its time left for the first.
TEST_F(FluidPlatformTest, SharesOfChainsAreMaxMinFair) {
  Add(0, {{links_[1], 2.0}});
  Add(1, {{links_[1], 1.0}, {links_[2], 2.0}});
  ExpectEnds({3.0, 3.0});
}

TEST_F(FluidPlatformTest, WorkIsAloneAgainOnceTheOtherIsDone) {
  Add(0, {{links_[0], 4.0}});
  Add(1, {{links_[0], 0.5}});
  // 3 s are left at 1 s; until 2 s both have half of the link.
  Add(3, {{links_[1], 1.0}});
  ExpectEnds({4.5, 2.0, 4.0});
}

// The third meets the second, which meets the first.
TEST_F(FluidPlatformTest, AThirdPieceJoins) {
  Add(0, {{links_[0], 3.0}});
  Add(0, {{links_[0], 3.0}});
  Add(0, {{links_[0], 3.0}});
  ExpectEnds({9.0, 9.0, 9.0});
}

TEST_F(FluidPlatformTest, WorkThatStartsAtTheInstantWhereAnotherEndsDoesNotMeetIt) {
  Add(0, {{links_[0], 0.1}});
  Add(0.1, {{links_[0], 0.2}});
  Add(0.1 + 0.2, {{links_[0], 0.3}});
  ExpectEnds({0.1, 0.3, 0.6});
}

TEST_F(FluidPlatformTest, ASlowedGpuStretchesWhatIsLeft) {
  Add(0, {{gpu_, 3.0}});
  SlowGpu(1, true);
  SlowGpu(2, false);
  // 1 s at full speed, 0.5 of the work in the second second, 1.5 left.
  ExpectEnds({3.5});
}

TEST_F(FluidPlatformTest, ASlowedGpuIsSharedToo) {
  SlowGpu(0.5, true);
  Add(1, {{gpu_, 1.0}});
  Add(2, {{gpu_, 1.0}});
  // Half of the first is left at 2 s: at a quarter of the speed each, until 4 s; then 0.5 of the
  // second at half of the speed.
  ExpectEnds({4.0, 5.0});
}

}  // namespace
}  // namespace zerosim
