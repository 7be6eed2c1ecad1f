#include "sim/messages/collective_play.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/lowering.h"

namespace zerosim {

CollectivePlay::CollectivePlay(const CallKind& kind, const Call& call, const NetworkModel& network,
                               CollectiveAlgorithm algorithm, const MessagePlatform& platform,
                               Activities* activities)
    : group_(kind.group),
      network_(network),
      platform_(platform),
      activities_(activities),
      plan_(PlanOf(call, kind, network, algorithm)) {
  if (!plan_.stages.empty()) {
    lead_ = call.launches * network.launch + ExtraLatency(call, plan_, network);
  }
  offsets_ = {0};
  for (const PlanStage& stage : plan_.stages) {
    offsets_.push_back(offsets_.back() + stage.channels);
  }
  const auto world = static_cast<std::size_t>(network.nodes) * network.gpus_per_node;
  stage_.assign(world, -1);
  leaves_.resize(world);
  progress_.resize(world * offsets_.back());
}

void CollectivePlay::Enter(int rank, std::function<void()> leaves) {
  leaves_[rank] = std::move(leaves);
  EnterStage(rank, 0);
}

void CollectivePlay::EnterStage(int rank, int stage) {
  stage_[rank] = stage;
  if (stage == static_cast<int>(plan_.stages.size())) {
    std::exchange(leaves_[rank], nullptr)();
    return;
  }
  for (int channel = 0; channel < plan_.stages[stage].channels; ++channel) {
    Advance(rank, channel);
  }
}

// Sends the next block of a channel if its turn has come, or enters the next stage if all channels
// are done.
void CollectivePlay::Advance(int rank, int channel) {
  const int index = stage_[rank];
  if (index < 0 || index >= static_cast<int>(plan_.stages.size())) return;
  const PlanStage& stage = plan_.stages[index];
  Progress& own = ProgressOf(rank, index, channel);
  if (!own.sending && own.sent < stage.rounds && own.received >= own.sent) {
    own.sending = true;
    Send(rank, channel, own.sent);
    return;
  }
  for (int c = 0; c < stage.channels; ++c) {
    const Progress& p = ProgressOf(rank, index, c);
    if (p.sent < stage.rounds || p.received < stage.rounds) return;
  }
  EnterStage(rank, index + 1);
}

int CollectivePlay::NicOfChannelOf(int rank, const PlanStage& stage, int channel) const {
  const std::vector<int> nics = platform_.NicsOfStage(rank);
  // Its group among those of its stage that share the node.
  const int stage_stride = network_.has_pipeline() ? network_.pipeline.stride : group_.stride;
  const int group = rank % std::min(group_.stride, stage_stride);
  return nics[NicOfChannel(stage, plan_.placement, group, channel, static_cast<int>(nics.size()))];
}

void CollectivePlay::Send(int rank, int channel, int round) {
  const int index = stage_[rank];
  const PlanStage& stage = plan_.stages[index];
  const Placement& placement = plan_.placement;
  // Ranks of one group are stride apart, starting at the group's first.
  const int span = group_.size * group_.stride;
  const int first = rank / span * span + rank % group_.stride;
  const int member = (rank - first) / group_.stride;
  const int peer = first + PeerOf(stage, placement, member, round, channel) * group_.stride;

  double bytes = static_cast<double>(stage.block.count()) / stage.channels;
  Ends ends = platform_.InNode(rank, peer);
  if (platform_.Crosses(rank, peer)) {
    // A ring's channels have NICs of their own; other messages take that of their GPU.
    const bool by_channel = stage.pattern == Pattern::kRing && placement.local > 1;
    const auto nic_of = [&](int r) {
      return by_channel ? NicOfChannelOf(r, stage, channel) : platform_.NicOf(r);
    };
    ends = platform_.BetweenNodes(rank, nic_of(rank), peer, nic_of(peer));
    if (stage.pattern == Pattern::kExchangeAcross) bytes /= network_.all_to_all_fraction;
  }
  const Message message{rank, peer, index, channel};
  activities_->Send(ends, bytes, [this, message] { Arrived(message); });
}

void CollectivePlay::Arrived(const Message& m) {
  Progress& sender = ProgressOf(m.from, m.stage, m.channel);
  sender.sending = false;
  ++sender.sent;
  ++ProgressOf(m.to, m.stage, m.channel).received;
  Advance(m.from, m.channel);
  if (stage_[m.to] == m.stage) Advance(m.to, m.channel);
}

}  // namespace zerosim
