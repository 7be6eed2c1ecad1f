#include "tools/zerosim/trace_json.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace zerosim {
namespace {

using Json = nlohmann::json;

// A gather of 1 ms on the gather stream, then a kernel of 2 ms that needs it.
StepProgram TwoOperations() {
  StepProgram program;
  program.rank_classes = {"rank \"0\""};  // to be quoted
  program.kinds = {{.name = "weights_forward",
                    .op = CollectiveOp::kAllGather,
                    .group = {.size = 8, .stride = 1},
                    .group_name = "world"}};
  program.calls = {{.kind = 0, .full = Bytes::Count(1000), .payload = Bytes::Count(2000)}};
  Op gather;
  gather.kind = OpKind::kCollective;
  gather.stream = Stream::kGather;
  gather.action = Action::kGather;
  gather.layer = 3;
  gather.call = CallId{0};
  Op kernel;
  kernel.kind = OpKind::kKernel;
  kernel.stream = Stream::kCompute;
  kernel.action = Action::kForward;
  kernel.layer = 3;
  kernel.deps = {OpId{0}};
  program.ops = {gather, kernel};
  program.memory = {{OpId{0}, MemoryTerm::kParameters, Bytes::Count(10)},
                    {OpId{0}, MemoryTerm::kLiveParameters, Bytes::Count(2000)},
                    {OpId{1}, MemoryTerm::kLiveParameters, Bytes::Count(-2000)}};
  return program;
}

Timeline ItsTimeline() {
  Timeline timeline;
  timeline.ops = {{Seconds::Count(0), Seconds::Millis(1)},
                  {Seconds::Millis(1), Seconds::Millis(3)}};
  timeline.end = Seconds::Millis(3);
  return timeline;
}

std::string TraceOf(const StepProgram& program, const Timeline& timeline,
                    const std::vector<UtilizationSeries>& links = {}) {
  std::string text;
  StaticMemory always;
  always.parameters = Bytes::Count(5);
  WriteTrace(program, timeline, always, links, [&](std::string_view part) { text += part; });
  return text;
}

// Events of the phase `ph` ("X", "C", "M").
std::vector<Json> EventsOf(const std::string& trace, const std::string& ph) {
  std::vector<Json> events;
  const Json json = Json::parse(trace);
  for (const Json& event : json.at("traceEvents")) {
    if (event.at("ph") == ph) events.push_back(event);
  }
  return events;
}

TEST(WriteTrace, ShowsEachOperationOnTheTrackOfItsStream) {
  const std::vector<Json> events = EventsOf(TraceOf(TwoOperations(), ItsTimeline()), "X");

  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("ts"), 0);
  EXPECT_EQ(events[0].at("dur"), 1000);
  EXPECT_EQ(events[0].at("tid"), static_cast<int>(Stream::kGather));
  EXPECT_EQ(events[0].at("args").at("wire_bytes"), 1000);
  EXPECT_EQ(events[0].at("args").at("group_size"), 8);
  EXPECT_EQ(events[1].at("ts"), 1000);
  EXPECT_EQ(events[1].at("dur"), 2000);
  EXPECT_EQ(events[1].at("tid"), static_cast<int>(Stream::kCompute));
  EXPECT_EQ(events[1].at("name"), NameOf(TwoOperations(), OpId{1}));
}

TEST(WriteTrace, NamesItsProcessesAndThreads) {
  std::vector<std::string> names;
  for (const Json& event : EventsOf(TraceOf(TwoOperations(), ItsTimeline()), "M")) {
    if (event.at("args").contains("name")) names.push_back(event.at("args").at("name"));
  }
  EXPECT_THAT(names, testing::ElementsAre("rank \"0\"", "compute", "gather", "memory of a GPU"));
}

TEST(WriteTrace, CountsMemoryByTermOncePerInstant) {
  const std::vector<Json> events = EventsOf(TraceOf(TwoOperations(), ItsTimeline()), "C");

  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("ts"), 0);
  EXPECT_EQ(events[0].at("args").at("parameters"), 15);
  EXPECT_EQ(events[0].at("args").at("live_parameters"), 2000);
  EXPECT_EQ(events[1].at("ts"), 1000);
  EXPECT_EQ(events[1].at("args").at("live_parameters"), 0);
}

TEST(WriteTrace, CountsUtilizationOfLinksInPercent) {
  const std::string trace =
      TraceOf(TwoOperations(), ItsTimeline(),
              {{"nic", {{Seconds::Count(0), 0.75}, {Seconds::Millis(1), 0.0}}}});
  std::vector<Json> nic;
  for (const Json& event : EventsOf(trace, "C")) {
    if (event.at("name") == "nic, % of capacity") nic.push_back(event);
  }
  ASSERT_EQ(nic.size(), 2u);
  EXPECT_EQ(nic[0].at("args").at("used"), 75);
  EXPECT_EQ(nic[1].at("ts"), 1000);
  EXPECT_EQ(nic[1].at("args").at("used"), 0);
}

TEST(WriteTrace, OfAnEmptyProgramIsStillATrace) {
  EXPECT_EQ(Json::parse(TraceOf(StepProgram(), Timeline())).at("traceEvents").size(), 0u);
}

TEST(WriteTrace, RefusesATimelineOfAnotherProgram) {
  EXPECT_THROW(TraceOf(TwoOperations(), Timeline()), std::invalid_argument);
}

}  // namespace
}  // namespace zerosim
