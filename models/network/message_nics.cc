#include "models/network/message_nics.h"

namespace zerosim {

MessageNics::MessageNics(const ClusterNetwork& network, const Stage& stage,
                         const GroupPlaces& places, NicRule rule)
    : network_(network), places_(places), channels_(stage.channels) {
  const GroupShape& shape = places.shape();
  const bool ring_or_tree =
      stage.pattern == StagePattern::kRing || stage.pattern == StagePattern::kTree;
  of_channels_ = ring_or_tree && shape.local > 1 && stage.among.stride == 1;
  // An exchange between members of equal place keeps to their rail.
  const bool rail =
      stage.pattern == StagePattern::kExchange && (stage.among.stride > 1 || shape.local == 1);
  same_ = of_channels_ || rail || rule == NicRule::kSameNumber;
}

int MessageNics::Out(int rank, int channel) const {
  if (!of_channels_) return network_.nic_of_gpu[places_.Gpu(rank)];
  // Groups and channels have NICs of their own as far as there are any.
  const int ways = places_.groups_in_node() * channels_;
  return (places_.GroupInNode(rank) * channels_ + channel) * network_.routes.num_nics() / ways;
}

int MessageNics::In(int out, int to) const {
  return same_ ? out : network_.nic_of_gpu[places_.Gpu(to)];
}

}  // namespace zerosim
