#include "tools/zerosim/report_json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/sample_report.h"

namespace zerosim {
namespace {

using Json = nlohmann::ordered_json;

// The keys that programs of users rely on, with a value of the type that each has.
constexpr const char* kContract = R"json(
{"zerosim": {"version": "", "scenario_sha256": "", "engine": "fluid", "wall_s": 0, "activities": 0, "link_classes": 0},
 "step_time_s": 0, "step_time_interval_s": [0, 0],
 "throughput": {"tflops_per_gpu": 0, "hardware_tflops_per_gpu": 0, "mfu": 0, "tokens_per_s": 0, "tokens_per_s_per_gpu": 0, "samples_per_s": 0},
 "time": {"forward_s": 0, "backward_s": 0, "optimizer_s": 0, "compute_s": 0, "quantization_s": 0, "communication_s": 0, "exposed_communication_s": 0},
 "communication": {"model_bytes": 0, "node_egress_bytes": 0, "node_egress_over_model": 0,
   "collectives": [{"name": "weights_forward", "op": "all_gather", "group": "world", "group_size": 0, "algorithm": "ring", "protocol": "simple",
     "calls": 0, "payload_bytes": 0, "wire_bytes": 0, "node_egress_bytes": 0, "in_node_bytes_per_gpu": 0, "time_s": 0, "exposed_s": 0,
     "algbw_GBps": 0, "busbw_GBps": 0, "bound_GBps": 0, "bottleneck": ""}]},
 "memory": {"peak_bytes_per_gpu": 0, "capacity_bytes": 0, "fits": true, "peak_at": "", "terms": {"parameters": 0, "gradients": 0, "optimizer": 0,
     "secondary_shard": 0, "live_parameters": 0, "buffers": 0, "activations": 0, "logits": 0, "context": 0}},
 "quantization": {"weights_forward": {"events": 1, "bits": 8, "block": 0, "relative_error": 0},
     "weights_backward": {"events": 1, "bits": 8, "block": 0, "relative_error": 0},
     "gradients": {"events": 1, "bits": 8, "block": 0, "relative_error": 0}},
 "bottlenecks": [{"link": "", "utilization": 0, "share_of_step": 0}], "warnings": []}
)json";

// The paths of `wanted` that `json` lacks or that have a value of another type.
std::vector<std::string> Missing(const Json& wanted, const Json& json, const std::string& path) {
  std::vector<std::string> missing;
  const bool both_numbers = wanted.is_number() && json.is_number();
  if (!both_numbers && wanted.type() != json.type()) return {path};
  if (wanted.is_array() && !wanted.empty()) {
    if (json.empty()) return {path + "[]"};
    return Missing(wanted[0], json[0], path + "[]");
  }
  if (!wanted.is_object()) return {};
  for (const auto& [key, value] : wanted.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    if (!json.contains(key)) {
      missing.push_back(here);
      continue;
    }
    for (std::string& m : Missing(value, json[key], here)) missing.push_back(std::move(m));
  }
  return missing;
}

TEST(ReportJson, HasEveryKeyOfTheContractWithItsType) {
  EXPECT_THAT(Missing(Json::parse(kContract), ReportJson(SampleReport()), ""), testing::IsEmpty());
}

TEST(ReportJson, WouldMissAKeyThatIsRenamed) {
  Json json = ReportJson(SampleReport());
  json["communication"]["collectives"][0].erase("busbw_GBps");
  json["memory"]["fits"] = "yes";
  EXPECT_THAT(Missing(Json::parse(kContract), json, ""),
              testing::ElementsAre("communication.collectives[].busbw_GBps", "memory.fits"));
}

TEST(ReportJson, PutsEachValueUnderItsKeyInTheUnitOfTheKey) {
  const Json json = ReportJson(SampleReport());
  const auto at = [&](const char* pointer) { return json.at(Json::json_pointer(pointer)); };

  EXPECT_EQ(at("/zerosim/engine"), "fluid");
  EXPECT_EQ(at("/zerosim/activities"), 1240);
  EXPECT_EQ(at("/zerosim/link_classes"), 6);
  EXPECT_EQ(at("/step_time_s"), 2.0);
  EXPECT_EQ(at("/step_time_interval_s"), Json::array({1.75, 2.5}));
  EXPECT_EQ(at("/throughput/tflops_per_gpu"), 31.25);
  EXPECT_EQ(at("/throughput/hardware_tflops_per_gpu"), 41.5);
  EXPECT_EQ(at("/throughput/mfu"), 0.25);
  EXPECT_EQ(at("/time/forward_s"), 0.5);
  EXPECT_EQ(at("/time/backward_s"), 1.4);
  EXPECT_EQ(at("/time/quantization_s"), 0.0125);
  EXPECT_EQ(at("/time/exposed_communication_s"), 0.8);
  EXPECT_EQ(at("/time/kernel_slowdown_s"), 0.15);
  EXPECT_EQ(at("/communication/model_bytes"), 3'000'000'000);
  EXPECT_EQ(at("/communication/node_egress_bytes"), 1'125'000'000);
  EXPECT_EQ(at("/communication/collectives/0/payload_bytes"), 3'000'000'000);
  EXPECT_EQ(at("/communication/collectives/0/wire_bytes"), 1'505'859'375);
  EXPECT_EQ(at("/communication/collectives/0/in_node_bytes_per_gpu"), 1'500'000'000);
  EXPECT_EQ(at("/communication/collectives/0/bound_GBps"), 12.5);
  EXPECT_EQ(at("/memory/terms/secondary_shard"), 187'500'000);
  EXPECT_EQ(at("/memory/terms/context"), 1'000);
  EXPECT_EQ(at("/memory/after_step_bytes_per_gpu"), 9'000'000'000);
  EXPECT_EQ(at("/quantization/gradients/events"), 2);
  EXPECT_EQ(at("/quantization/gradients/block"), 512);
  EXPECT_EQ(at("/quantization/weights_backward/bits"), 16);
  EXPECT_EQ(at("/bottlenecks/0/share_of_step"), 0.5);
  EXPECT_EQ(at("/critical_path/1/time_s"), 0.8);
  EXPECT_EQ(at("/warnings/0"), "qgZ has no effect on one node");
}

TEST(ReportJson, OfAnEmptyReportHasListsAndNotNull) {
  const Json json = ReportJson(StepReport());
  for (const char* key : {"bottlenecks", "critical_path", "warnings", "parameters_used"}) {
    EXPECT_EQ(json.at(key), Json::array()) << key;
  }
  EXPECT_EQ(json.at("communication").at("collectives"), Json::array());
}

}  // namespace
}  // namespace zerosim
