#include "tools/zerosim/report_json.h"

#include <utility>

namespace zerosim {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const CollectiveReport& c) {
  return {{"name", c.name},
          {"op", c.op},
          {"group", c.group},
          {"group_size", c.group_size},
          {"algorithm", c.algorithm},
          {"protocol", c.protocol},
          {"calls", c.calls},
          {"payload_bytes", c.payload.count()},
          {"wire_bytes", c.wire.count()},
          {"node_egress_bytes", c.node_egress.count()},
          {"in_node_bytes_per_gpu", c.in_node_per_gpu.count()},
          {"time_s", c.time.seconds()},
          {"exposed_s", c.exposed.seconds()},
          {"algbw_GBps", c.algbw.gigabytes_per_second()},
          {"busbw_GBps", c.busbw.gigabytes_per_second()},
          {"bound_GBps", c.bound.gigabytes_per_second()},
          {"bottleneck", c.bottleneck}};
}

Json ToJson(const MemoryReport& m) {
  const MemoryTerms& t = m.terms;
  return {{"peak_bytes_per_gpu", m.peak.count()},
          {"after_step_bytes_per_gpu", m.after_step.count()},
          {"capacity_bytes", m.capacity.count()},
          {"fits", m.fits},
          {"peak_at", m.peak_at},
          {"host_bytes_per_node", m.host_per_node.count()},
          {"host_capacity_bytes", m.host_capacity.count()},
          {"host_fits", m.host_fits},
          {"terms",
           {{"parameters", t.parameters.count()},
            {"gradients", t.gradients.count()},
            {"optimizer", t.optimizer.count()},
            {"secondary_shard", t.secondary_shard.count()},
            {"live_parameters", t.live_parameters.count()},
            {"buffers", t.buffers.count()},
            {"activations", t.activations.count()},
            {"logits", t.logits.count()},
            {"context", t.context.count()}}}};
}

Json ToJson(const QuantizationPath& path) {
  return {{"events", path.events},
          {"bits", path.bits},
          {"block", path.group_size},
          {"relative_error", path.relative_error},
          {"of_difference", path.of_difference}};
}

Json Collectives(const StepReport& report) {
  Json list = Json::array();
  for (const CollectiveReport& c : report.collectives) list.push_back(ToJson(c));
  return list;
}

Json Bottlenecks(const StepReport& report) {
  Json list = Json::array();
  for (const Bottleneck& b : report.bottlenecks) {
    list.push_back(
        {{"link", b.link}, {"utilization", b.utilization}, {"share_of_step", b.share_of_step}});
  }
  return list;
}

Json CriticalPath(const StepReport& report) {
  Json list = Json::array();
  for (const CriticalShare& share : report.critical_path) {
    list.push_back({{"cause", share.cause}, {"time_s", share.time.seconds()}});
  }
  return list;
}

Json ParametersUsed(const StepReport& report) {
  Json list = Json::array();
  for (const ParameterUsed& p : report.parameters_used) {
    list.push_back({{"name", p.name},
                    {"value", p.value},
                    {"source", p.source},
                    {"faster_s", p.faster.seconds()},
                    {"slower_s", p.slower.seconds()}});
  }
  return list;
}

Json ToJson(const OtherStep& other) {
  return {{"step_time_s", other.step.seconds()}, {"tokens_per_s", other.tokens_per_s}};
}

Json ToJson(const ExceptionsReport& e) {
  Json items = Json::array();
  for (const OtherStep& item : e.without_item) items.push_back(ToJson(item));
  return {{"nodes", e.nodes},
          {"sound", ToJson(e.sound)},
          {"left_out", e.without ? ToJson(*e.without) : Json()},
          {"item_sound", std::move(items)}};
}

Json ToJson(const JitterReport& j) {
  Json percentiles = Json::array();
  for (const JitteredStep& p : j.percentiles) {
    percentiles.push_back({{"percent", p.percent},
                           {"kernel_time", p.kernel_time},
                           {"step_time_s", p.step.step.seconds()},
                           {"tokens_per_s", p.step.tokens_per_s}});
  }
  Json mean = ToJson(j.mean);
  mean["step_time_bounds_s"] = {j.mean_low.seconds(), j.mean_high.seconds()};
  return {{"steps", j.steps},
          {"compute", j.compute},
          {"percentiles", std::move(percentiles)},
          {"mean", std::move(mean)}};
}

}  // namespace

Json ReportJson(const StepReport& r) {
  Json json;
  json["zerosim"] = {{"version", r.version},       {"scenario_sha256", r.scenario_sha256},
                     {"engine", r.engine},         {"wall_s", r.wall_s},
                     {"activities", r.activities}, {"link_classes", r.link_classes},
                     {"scenario", r.scenario}};
  json["world_size"] = r.world_size;
  json["parameters"] = r.parameters;
  json["trainable_parameters"] = r.trainable_parameters;
  json["step_time_s"] = r.step.seconds();
  json["step_time_interval_s"] = Json::array({r.step_low.seconds(), r.step_high.seconds()});
  json["throughput"] = {{"tflops_per_gpu", r.tflops_per_gpu},
                        {"hardware_tflops_per_gpu", r.hardware_tflops_per_gpu},
                        {"mfu", r.mfu},
                        {"tokens_per_s", r.tokens_per_s},
                        {"tokens_per_s_per_gpu", r.tokens_per_s_per_gpu},
                        {"samples_per_s", r.samples_per_s}};
  json["time"] = {{"forward_s", r.forward.seconds()},
                  {"backward_s", r.backward.seconds()},
                  {"optimizer_s", r.optimizer.seconds()},
                  {"bubble_s", r.bubble.seconds()},
                  {"compute_s", r.compute.seconds()},
                  {"quantization_s", r.quantization.seconds()},
                  {"communication_s", r.communication.seconds()},
                  {"exposed_communication_s", r.exposed_communication.seconds()},
                  {"kernel_slowdown_s", r.kernel_slowdown.seconds()}};
  json["communication"] = {{"model_bytes", r.model.count()},
                           {"node_egress_bytes", r.node_egress.count()},
                           {"node_egress_over_model", r.node_egress_over_model},
                           {"collectives", Collectives(r)}};
  json["memory"] = ToJson(r.memory);
  json["quantization"] = {{"weights_forward", ToJson(r.weights_forward)},
                          {"weights_backward", ToJson(r.weights_backward)},
                          {"gradients", ToJson(r.gradients)}};
  json["bottlenecks"] = Bottlenecks(r);
  json["critical_path"] = CriticalPath(r);
  if (r.exceptions) json["exceptions"] = ToJson(*r.exceptions);
  if (r.jitter) json["jitter"] = ToJson(*r.jitter);
  json["warnings"] = r.warnings;
  json["parameters_used"] = ParametersUsed(r);
  return json;
}

}  // namespace zerosim
