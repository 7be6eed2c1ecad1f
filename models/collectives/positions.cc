#include "models/collectives/positions.h"

#include <algorithm>

namespace zerosim {
namespace {

// The local member at `place` of a channel's way through a node, and back.
int LocalAt(const Stage& stage, int local, int channel, int place) {
  if (!stage.local_orders.empty()) return stage.local_orders[channel][place];
  return (place + channel * local / stage.channels) % local;
}

int PlaceOfLocal(const Stage& stage, int local, int channel, int member) {
  if (!stage.local_orders.empty()) {
    const std::vector<int>& order = stage.local_orders[channel];
    return static_cast<int>(std::find(order.begin(), order.end(), member) - order.begin());
  }
  return (member - channel * local / stage.channels + local) % local;
}

}  // namespace

bool CoversNodes(const Stage& stage, const GroupShape& shape) {
  return stage.among.stride == 1 && stage.among.size % shape.local == 0;
}

int RingPlace(const Stage& stage, const GroupShape& shape, int channel, int position) {
  if (!CoversNodes(stage, shape)) return position;
  const int local = position % shape.local;
  return position - local + PlaceOfLocal(stage, shape.local, channel, local);
}

int PositionInRing(const Stage& stage, const GroupShape& shape, int channel, int place) {
  if (!CoversNodes(stage, shape)) return place;
  const int local = place % shape.local;
  return place - local + LocalAt(stage, shape.local, channel, local);
}

double PositionShare(const Stage& stage, const GroupShape& shape) {
  if (stage.motion == Motion::kPersonal) return 1.0 / stage.among.size;
  return static_cast<double>(BlocksOf(stage, shape, 0, 0).count) / shape.size();
}

}  // namespace zerosim
