#include "models/program/program_writer.h"

#include <algorithm>
#include <utility>

namespace zerosim {

ProgramWriter::ProgramWriter(std::string rank_class) {
  program_.rank_classes.push_back(std::move(rank_class));
}

OpId ProgramWriter::Add(const Label& label, OpKind kind, Stream stream, Seconds time,
                        std::vector<OpId> deps) {
  std::erase_if(deps, [](OpId op) { return op.value < 0; });
  std::sort(deps.begin(), deps.end());
  deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
  Op op;
  op.kind = kind;
  op.stream = stream;
  op.phase = label.phase;
  op.action = label.action;
  op.part = label.part;
  op.layer = label.layer;
  op.micro_step = label.micro_step;
  op.time = time;
  op.deps = std::move(deps);
  program_.ops.push_back(std::move(op));
  return OpId{static_cast<int>(program_.ops.size()) - 1};
}

void ProgramWriter::HostWork(const Label& label, Seconds time) {
  host_pending_ += time;
  // An empty program needs an operation that its first memory events can name.
  if (host_.value < 0) FlushHost(label);
}

OpId ProgramWriter::FlushHost(const Label& label) {
  if (host_.value < 0 || host_pending_ > Seconds()) {
    Label host_label = label;
    host_label.action = Action::kHostWork;
    host_ = Add(host_label, OpKind::kHost, Stream::kHost, host_pending_, {host_});
    host_pending_ = Seconds();
  }
  return host_;
}

void ProgramWriter::HostWaits(const Label& label, OpId op) {
  FlushHost(label);
  Label wait = label;
  wait.action = Action::kHostWait;
  if (op == open_compute_) open_compute_ = OpId{};
  host_ = Add(wait, OpKind::kHost, Stream::kHost, Seconds(), {host_, op});
}

void ProgramWriter::HostWaits(const Label& label, Stream stream) {
  const std::vector<OpId> ops = tail(stream);
  for (const OpId op : ops) HostWaits(label, op);
}

OpId ProgramWriter::Kernel(Stream stream, const Label& label, Seconds time) {
  std::vector<OpId>& last = tails_[Index(stream)];
  if (stream == Stream::kCompute && open_compute_.value >= 0 && last.size() == 1 &&
      last[0] == open_compute_) {
    Op& open = program_.ops[open_compute_.value];
    const bool follows = open.action == label.action && open.layer == label.layer &&
                         open.micro_step == label.micro_step;
    if (follows && (label.layer >= 0 || open.part == label.part)) {
      open.time += time;
      return open_compute_;
    }
    // Outside of the blocks each part has its name, and starts when the one before it ends.
    if (follows) {
      open_compute_ = Add(label, OpKind::kKernel, stream, time, {open_compute_});
      last = {open_compute_};
      return open_compute_;
    }
  }
  std::vector<OpId> deps = last;
  deps.push_back(FlushHost(label));
  const OpId op = Add(label, OpKind::kKernel, stream, time, std::move(deps));
  last = {op};
  if (stream == Stream::kCompute) open_compute_ = op;
  return op;
}

void ProgramWriter::ExtendCompute(const Label& label, Seconds time) {
  const std::vector<OpId>& last = tail(Stream::kCompute);
  if (open_compute_.value >= 0 && last.size() == 1 && last[0] == open_compute_) {
    program_.ops[open_compute_.value].time += time;
  } else {
    Kernel(Stream::kCompute, label, time);
  }
}

OpId ProgramWriter::Collective(Stream issuer, Communicator communicator, const Label& label,
                               const Call& call, Seconds lead) {
  std::vector<OpId> deps = tails_[Index(issuer)];
  OpId& queue = communicator_tails_[static_cast<int>(communicator)];
  deps.push_back(queue);
  deps.push_back(FlushHost(label));
  if (issuer == Stream::kCompute) open_compute_ = OpId{};
  const OpId op = Add(label, OpKind::kCollective, issuer, lead, std::move(deps));
  program_.calls.push_back(call);
  program_.ops[op.value].call = CallId{static_cast<int>(program_.calls.size()) - 1};
  queue = op;
  return op;
}

void ProgramWriter::StreamWaits(Stream stream, OpId op) {
  std::vector<OpId>& last = tails_[Index(stream)];
  if (op.value < 0 || std::find(last.begin(), last.end(), op) != last.end()) return;
  if (op == open_compute_) open_compute_ = OpId{};
  // What `op` waited for itself need not be waited for again: chains of collectives stay short.
  const std::vector<OpId>& known = program_.ops[op.value].deps;
  std::erase_if(
      last, [&](OpId own) { return std::find(known.begin(), known.end(), own) != known.end(); });
  last.push_back(op);
}

void ProgramWriter::StreamWaits(Stream stream, Stream other) {
  const std::vector<OpId> ops = tail(other);
  for (const OpId op : ops) {
    // What the stream's last operation already waited for adds nothing.
    const std::vector<OpId>& last = tail(stream);
    const bool known = std::any_of(last.begin(), last.end(), [&](OpId own) {
      const std::vector<OpId>& deps = program_.ops[own.value].deps;
      return std::find(deps.begin(), deps.end(), op) != deps.end();
    });
    if (!known) StreamWaits(stream, op);
  }
}

void ProgramWriter::Memory(MemoryTerm term, Bytes delta) {
  if (delta != Bytes())
    program_.memory.push_back({host_, term, delta, OpId{static_cast<int>(program_.ops.size())}});
}

void ProgramWriter::Warn(std::string text) {
  auto& warnings = program_.warnings;
  if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) {
    warnings.push_back(std::move(text));
  }
}

int ProgramWriter::AddKind(CallKind kind) {
  program_.kinds.push_back(std::move(kind));
  return static_cast<int>(program_.kinds.size()) - 1;
}

StepProgram ProgramWriter::Finish() && {
  FlushHost(Label{.phase = Phase::kOptimizer});
  return std::move(program_);
}

}  // namespace zerosim
