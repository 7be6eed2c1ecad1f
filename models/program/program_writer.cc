#include "models/program/program_writer.h"

#include <algorithm>
#include <utility>

#include "models/core/check.h"

namespace zerosim {

ProgramWriter::ProgramWriter(std::vector<std::string> rank_classes) : states_(rank_classes.size()) {
  program_.rank_classes = std::move(rank_classes);
}

void ProgramWriter::BeginFold(const Label& label) {
  FlushHost(label);
  fold_ = Fold{label, {}, {}, {}};
}

void ProgramWriter::EndFold() {
  const Fold fold = std::move(*fold_);
  fold_.reset();
  std::vector<OpId> deps = tail(Stream::kCompute);
  deps.push_back(FlushHost(fold.label));
  const OpId op = Add(fold.label, OpKind::kKernel, Stream::kCompute, fold.time, std::move(deps));
  program_.ops[op.value].inline_calls = fold.calls;
  state().tails[Index(Stream::kCompute)] = {op};
  state().open_compute = OpId{};
  state().host_pending += fold.host;
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
  op.rank_class = rank_class_;
  op.time = time;
  op.deps = std::move(deps);
  program_.ops.push_back(std::move(op));
  return OpId{static_cast<int>(program_.ops.size()) - 1};
}

void ProgramWriter::HostWork(const Label& label, Seconds time) {
  if (fold_) {
    fold_->host += time;
    return;
  }
  state().host_pending += time;
  // An empty program needs an operation that its first memory events can name.
  if (state().host.value < 0) FlushHost(label);
}

OpId ProgramWriter::FlushHost(const Label& label) {
  if (state().host.value < 0 || state().host_pending > Seconds()) {
    Label host_label = label;
    host_label.action = Action::kHostWork;
    state().host =
        Add(host_label, OpKind::kHost, Stream::kHost, state().host_pending, {state().host});
    state().host_pending = Seconds();
  }
  return state().host;
}

void ProgramWriter::HostTask(const Label& label, Seconds time) {
  FlushHost(label);
  state().host = Add(label, OpKind::kHost, Stream::kHost, time, {state().host});
}

void ProgramWriter::HostWaits(const Label& label, OpId op) {
  FlushHost(label);
  Label wait = label;
  wait.action = Action::kHostWait;
  if (op == state().open_compute) state().open_compute = OpId{};
  state().host = Add(wait, OpKind::kHost, Stream::kHost, Seconds(), {state().host, op});
}

void ProgramWriter::HostWaits(const Label& label, Stream stream) {
  const std::vector<OpId> ops = tail(stream);
  for (const OpId op : ops) HostWaits(label, op);
}

OpId ProgramWriter::Kernel(Stream stream, const Label& label, Seconds time) {
  if (fold_) {
    ZEROSIM_CHECK(stream == Stream::kCompute, "stream {} in a folded pass", Index(stream));
    fold_->time += time;
    return OpId{};
  }
  std::vector<OpId>& last = state().tails[Index(stream)];
  if (stream == Stream::kCompute && state().open_compute.value >= 0 && last.size() == 1 &&
      last[0] == state().open_compute) {
    Op& open = program_.ops[state().open_compute.value];
    const bool follows = open.action == label.action && open.layer == label.layer &&
                         open.micro_step == label.micro_step;
    if (follows && (label.layer >= 0 || open.part == label.part)) {
      open.time += time;
      return state().open_compute;
    }
    // Outside of the blocks each part has its name, and starts when the one before it ends.
    if (follows) {
      const OpId op = Add(label, OpKind::kKernel, stream, time, {state().open_compute});
      state().open_compute = op;
      last = {op};
      return op;
    }
  }
  std::vector<OpId> deps = last;
  deps.push_back(FlushHost(label));
  const OpId op = Add(label, OpKind::kKernel, stream, time, std::move(deps));
  last = {op};
  if (stream == Stream::kCompute) state().open_compute = op;
  return op;
}

void ProgramWriter::ExtendCompute(const Label& label, Seconds time) {
  const std::vector<OpId>& last = tail(Stream::kCompute);
  if (state().open_compute.value >= 0 && last.size() == 1 && last[0] == state().open_compute) {
    program_.ops[state().open_compute.value].time += time;
  } else {
    Kernel(Stream::kCompute, label, time);
  }
}

OpId ProgramWriter::Collective(Stream issuer, Communicator communicator, const Label& label,
                               const Call& call, Seconds lead) {
  if (fold_) {
    ZEROSIM_CHECK(issuer == Stream::kCompute, "stream {} in a folded pass", Index(issuer));
    fold_->time += lead;
    const auto same = [&](const InlineCall& known) {
      const Call& other = program_.calls[known.call.value];
      return other.kind == call.kind && other.full == call.full && other.launches == call.launches;
    };
    const auto known = std::find_if(fold_->calls.begin(), fold_->calls.end(), same);
    if (known != fold_->calls.end()) {
      ++known->count;
    } else {
      program_.calls.push_back(call);
      fold_->calls.push_back({CallId{static_cast<int>(program_.calls.size()) - 1}, 1});
    }
    return OpId{};
  }
  std::vector<OpId> deps = state().tails[Index(issuer)];
  OpId& queue = state().communicator_tails[static_cast<int>(communicator)];
  deps.push_back(queue);
  deps.push_back(FlushHost(label));
  if (issuer == Stream::kCompute) state().open_compute = OpId{};
  const OpId op = Add(label, OpKind::kCollective, issuer, lead, std::move(deps));
  program_.calls.push_back(call);
  program_.ops[op.value].call = CallId{static_cast<int>(program_.calls.size()) - 1};
  queue = op;
  return op;
}

void ProgramWriter::StreamWaits(Stream stream, OpId op) {
  std::vector<OpId>& last = state().tails[Index(stream)];
  if (op.value < 0 || std::find(last.begin(), last.end(), op) != last.end()) return;
  if (op == state().open_compute) state().open_compute = OpId{};
  // What `op` waited for itself need not be waited for again: chains of collectives stay short.
  const std::vector<OpId>& known = program_.ops[op.value].deps;
  std::erase_if(
      last, [&](OpId own) { return std::find(known.begin(), known.end(), own) != known.end(); });
  last.push_back(op);
}

void ProgramWriter::StreamWaits(Stream stream, Stream other) {
  if (fold_) return;
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
  if (delta == Bytes()) return;
  program_.memory.push_back(
      {state().host, term, delta, OpId{static_cast<int>(program_.ops.size())}, rank_class_});
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
  for (std::size_t c = 0; c < states_.size(); ++c) {
    SetRankClass(static_cast<int>(c));
    FlushHost(Label{.phase = Phase::kOptimizer});
  }
  return std::move(program_);
}

}  // namespace zerosim
