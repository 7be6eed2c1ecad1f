#include "tools/zerosim/trace_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/zerosim/names.h"

namespace zerosim {
namespace {

std::string JsonString(const std::string& text) {
  // A name with a byte that is no UTF-8 must not end the trace.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// One event a line, commas between.
class Events {
 public:
  explicit Events(const std::function<void(std::string_view)>& write) : write_(write) {
    write_("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
  }

  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    write_(first_ ? "\n" : ",\n");
    first_ = false;
    write_(fmt::format(format, std::forward<Args>(args)...));
  }

  void NameProcess(int pid, const std::string& name) {
    Add(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid,
        JsonString(name));
    Add(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid,
        pid);
  }

  void NameThread(int pid, int tid, const std::string& name) {
    Add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid, tid,
        JsonString(name));
    Add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
        pid, tid, tid);
  }

  void Finish() { write_("\n]}\n"); }

 private:
  const std::function<void(std::string_view)>& write_;
  bool first_ = true;
};

// What the viewer shows of a collective that is clicked on.
std::string Arguments(const StepProgram& program, const Op& op) {
  if (op.call.value < 0) return fmt::format(R"({{"micro_step":{}}})", op.micro_step);
  const Call& call = program.calls.at(op.call.value);
  const CallKind& kind = program.kinds.at(call.kind);
  return fmt::format(
      R"({{"micro_step":{},"group":{},"group_size":{},"wire_bytes":{},"payload_bytes":{},"launches":{}}})",
      op.micro_step, JsonString(kind.group_name), kind.group.size, call.full.count(),
      call.payload.count(), call.launches);
}

void AddOperations(const StepProgram& program, const Timeline& timeline, Events& events) {
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const Interval& span = timeline.ops[i];
    if (span.end <= span.start) continue;  // a wait that was already over: nothing to see
    events.Add(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"args":{}}})",
               op.rank_class + 1, static_cast<int>(op.stream), span.start.microseconds(),
               (span.end - span.start).microseconds(),
               JsonString(NameOf(program, OpId{static_cast<int>(i)})), Arguments(program, op));
  }
}

// Memory by term over time, for rank class 0. Each event counts when its operation starts, but not
// before those that the host reached earlier.
void AddMemory(const StepProgram& program, const Timeline& timeline, const StaticMemory& always,
               int rank_class, int pid, Events& events) {
  std::array<std::int64_t, kMemoryTermCount> bytes{};
  const auto of = [&](MemoryTerm term) -> std::int64_t& {
    return bytes.at(static_cast<std::size_t>(term));
  };
  of(MemoryTerm::kParameters) = always.parameters.count();
  of(MemoryTerm::kGradients) = always.gradients.count();
  of(MemoryTerm::kOptimizer) = always.optimizer.count();
  of(MemoryTerm::kBuffers) = always.buffers.count();
  of(MemoryTerm::kContext) = always.context.count();
  Seconds now;
  const auto add = [&] {
    std::string terms;
    for (int t = 0; t < kMemoryTermCount; ++t) {
      terms += fmt::format(R"({}"{}":{})", t == 0 ? "" : ",", NameOf(static_cast<MemoryTerm>(t)),
                           bytes.at(t));
    }
    events.Add(R"({{"ph":"C","pid":{},"ts":{:.3f},"name":"memory, bytes","args":{{{}}}}})", pid,
               now.microseconds(), terms);
  };
  bool pending = false;
  for (const MemoryEvent& event : program.memory) {
    if (event.rank_class != rank_class) continue;
    const Seconds at = std::max(now, timeline.ops.at(event.op.value).start);
    if (at > now && pending) add();
    now = at;
    of(event.term) += event.delta.count();
    pending = true;
  }
  if (pending) add();
}

}  // namespace

void WriteTrace(const StepProgram& program, const Timeline& timeline, const StaticMemory& always,
                const std::vector<UtilizationSeries>& links,
                const std::function<void(std::string_view)>& write, int memory_class) {
  if (timeline.ops.size() != program.ops.size()) {
    throw std::invalid_argument(fmt::format("a timeline of {} operations for a program of {}",
                                            timeline.ops.size(), program.ops.size()));
  }
  Events events(write);

  std::set<std::pair<int, int>> tracks;  // process, thread
  for (const Op& op : program.ops) tracks.emplace(op.rank_class + 1, static_cast<int>(op.stream));
  const int classes = static_cast<int>(program.rank_classes.size());
  for (int c = 0; c < classes; ++c) events.NameProcess(c + 1, program.rank_classes[c]);
  for (const auto& [pid, tid] : tracks)
    events.NameThread(pid, tid, NameOf(static_cast<Stream>(tid)));
  const int links_pid = classes + 1;
  const int memory_pid = classes + 2;
  if (!links.empty()) events.NameProcess(links_pid, "links");
  if (!program.memory.empty()) {
    const std::string of = classes == 1 ? "" : " of " + program.rank_classes[memory_class];
    events.NameProcess(memory_pid, "memory of a GPU" + of);
  }

  AddOperations(program, timeline, events);
  for (const UtilizationSeries& series : links) {
    const std::string name = JsonString(series.link + ", % of capacity");
    for (const auto& [at, used] : series.points) {
      events.Add(R"({{"ph":"C","pid":{},"ts":{:.3f},"name":{},"args":{{"used":{:.2f}}}}})",
                 links_pid, at.microseconds(), name, 100 * used);
    }
  }
  AddMemory(program, timeline, always, memory_class, memory_pid, events);
  events.Finish();
}

}  // namespace zerosim
