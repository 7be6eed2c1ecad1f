#include "kernels/executor/warp.h"

#include "kernels/executor/block.h"
#include "kernels/executor/sanitizers.h"

namespace zerosim::kernels::executor {
namespace {

int FirstLane(unsigned mask) {
  return __builtin_ctz(mask);
}

}  // namespace

void Warp::Begin(int num_lanes) {
  existing_ = num_lanes == 32 ? ~0u : (1u << num_lanes) - 1;
  exited_ = 0;
  num_meetings_ = 0;
}

Warp::Meeting& Warp::MeetingOf(unsigned mask) {
  Meeting* free = nullptr;
  for (int i = 0; i < num_meetings_; ++i) {
    Meeting& meeting = meetings_[i];
    if (meeting.mask == mask) return meeting;
    if (meeting.arrived == 0 && meeting.unread == 0) free = &meeting;
  }
  if (free == nullptr) {
    free = &meetings_[num_meetings_++];
    free->generation = 0;
    free->unread = 0;
  }
  free->mask = mask;
  free->arrived = 0;
  return *free;
}

void Warp::CheckPlace(Block& block, const Meeting& meeting, const Place& place) const {
  if (*meeting.place == place) return;
  block.Fail(place,
             "lane %d of mask 0x%08x waits in %s at %s:%d; all lanes of a mask must meet in the "
             "same operation",
             FirstLane(meeting.arrived), meeting.mask, meeting.place->word,
             FileName(*meeting.place), meeting.place->line);
}

const std::uint64_t* Warp::Meet(Block& block, unsigned mask, std::uint64_t value,
                                bool orders_memory, const Place& place) {
  block.CountWarpOperation();
  const unsigned lane = static_cast<unsigned>(block.thread()) % 32;
  const unsigned members = mask & existing_;
  if ((members >> lane & 1u) == 0) {
    block.Fail(place, "mask 0x%08x does not name the caller, lane %u", mask, lane);
  }
  if ((members & exited_) != 0) {
    block.Fail(place, "mask 0x%08x names lane %d, which has exited", mask,
               FirstLane(members & exited_));
  }
  Meeting& meeting = MeetingOf(members);
  if (meeting.arrived == 0) meeting.place = &place;
  CheckPlace(block, meeting, place);

  const unsigned turn = meeting.generation % 2;
  char* const tag = block.TagsOfWarp() + 2 * (&meeting - meetings_) + turn;
  meeting.values[turn][lane] = value;
  if (orders_memory) Release(tag);
  meeting.arrived |= 1u << lane;
  if (meeting.arrived == members) {
    meeting.arrived = 0;
    ++meeting.generation;
    meeting.unread = members;
    block.MakeReady(members & ~(1u << lane));
    block.GiveWay();
  } else {
    block.Wait(place, mask);
  }
  if (orders_memory) Acquire(tag);
  meeting.unread &= ~(1u << lane);
  return meeting.values[turn];
}

void Warp::Exit(Block& block, unsigned lane) {
  exited_ |= 1u << lane;
  for (int i = 0; i < num_meetings_; ++i) {
    const Meeting& meeting = meetings_[i];
    if (meeting.arrived == 0 || (meeting.mask >> lane & 1u) == 0) continue;
    block.FailOf(block.thread() / 32 * 32 + FirstLane(meeting.arrived), *meeting.place,
                 "mask 0x%08x names lane %u, which has exited", meeting.mask, lane);
  }
}

}  // namespace zerosim::kernels::executor
