#include <iterator>
#include <string>

#include <fmt/format.h>

#include "sim/fluid_engine.h"
#include "sim/simulate.h"

namespace zerosim {
namespace {

const char* NameOfStream(const Op& op) {
  switch (op.stream) {
    case Stream::kHost:
      return "host";
    case Stream::kCompute:
      return "compute";
    case Stream::kGather:
      return "gather";
    case Stream::kReduce:
      return "reduce";
    case Stream::kSend:
      return "send";
  }
  return "?";
}

}  // namespace

std::string DumpProgram(const PreparedStep& step) {
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "# op  stream  micro_step  name  time_us  [collective group bytes]  <- deps\n");
  if (step.program.rank_classes.size() > 1) {
    for (const std::string& name : step.program.rank_classes) fmt::format_to(to, "# {}\n", name);
  }
  for (std::size_t i = 0; i < step.program.ops.size(); ++i) {
    const Op& op = step.program.ops[i];
    fmt::format_to(to, "{} {} {} {} {:.3f}", i, NameOfStream(op), op.micro_step,
                   NameOf(step.program, OpId{static_cast<int>(i)}), op.time.microseconds());
    if (op.kind == OpKind::kCollective) {
      const Call& call = step.program.calls[op.call.value];
      const CallKind& kind = step.program.kinds[call.kind];
      fmt::format_to(to, " [{} {} {}]", kind.name, kind.group_name, call.full.count());
    }
    fmt::format_to(to, " <-");
    for (const OpId dep : op.deps) fmt::format_to(to, " {}", dep.value);
    fmt::format_to(to, "\n");
  }
  return fmt::to_string(out);
}

std::string DumpLowering(const PreparedStep& step) {
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "# call  kind  group  algorithm  full_bytes  alone_us  bound_us  "
                 "stages: latency_us link=bytes...\n");
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    const LoweredCall& call = step.calls[i];
    const CallKind& kind = step.program.kinds[step.program.calls[i].kind];
    fmt::format_to(to, "{} {} {} {} {} {:.3f} {:.3f}", i, kind.name, kind.group_name,
                   call.algorithm, step.program.calls[i].full.count(), call.alone.microseconds(),
                   call.bound.microseconds());
    for (const LoweredStage& stage : call.stages) {
      fmt::format_to(to, " | {:.3f}", stage.latency.microseconds());
      for (const LinkLoad& load : stage.loads) {
        fmt::format_to(to, " {}={}", step.network.links[load.link.value].name, load.bytes.count());
      }
    }
    fmt::format_to(to, "\n");
  }
  return fmt::to_string(out);
}

std::string DumpPlatform(const PreparedStep& step) {
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "# link_class  capacity_GBps  links  simulated\n");
  const std::vector<LinkId> needed = NeededLinks(step.calls, step.network);
  for (std::size_t l = 0; l < step.network.links.size(); ++l) {
    const LinkClass& link = step.network.links[l];
    if (link.count == 0) continue;  // a place that no link has
    bool simulated = false;
    for (const LinkId id : needed) simulated = simulated || id.value == static_cast<int>(l);
    fmt::format_to(to, "{:12} {:10.3f} {:8} {}\n", link.name, link.capacity.gigabytes_per_second(),
                   link.count, simulated ? "yes" : "no, dominated");
  }
  fmt::format_to(to, "step in the node {:.3f} us, between nodes {:.3f} us, launch {:.3f} us\n",
                 step.network.gpu_latency.microseconds(), step.network.nic_latency.microseconds(),
                 step.network.launch.microseconds());
  return fmt::to_string(out);
}

}  // namespace zerosim
