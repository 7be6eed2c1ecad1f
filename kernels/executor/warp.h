// What the lanes of a warp do together: each operation is a meeting of the lanes that its mask
// names.
//
// Checked, each with the kernel's line, the block and the thread:
//
//   - the mask names the caller, and no lane that has exited or exits before it comes;
//   - all lanes of the mask meet in the same operation of the same line;
//   - a shuffle reads a lane that is there and that the mask names, else what it reads is
//   undefined;
//   - its width is a power of two of at most 32.
//
// Lanes meet by mask: lanes of disjoint masks do not wait for each other, and those of masks that
// overlap without being equal wait forever, which block.h reports. Lanes that a block's last warp
// does not have are ignored in masks.
//
// __syncwarp orders memory among the lanes of its mask. Shuffles and votes do not, as in CUDA: a
// kernel that relies on them for it has a race, which ThreadSanitizer reports.
#pragma once

#include <cstdint>

#include "kernels/executor/place.h"

namespace zerosim::kernels::executor {

class Block;

class Warp {
 public:
  void Begin(int num_lanes);

  // Meets the other lanes of `mask`. Returns what each lane brought, valid until the calling thread
  // waits again.
  const std::uint64_t* Meet(Block& block, unsigned mask, std::uint64_t value, bool orders_memory,
                            const Place& place);

  // `lane`, the calling thread's, is gone for good. No one may be waiting for it.
  void Exit(Block& block, unsigned lane);

  unsigned existing() const { return existing_; }

 private:
  struct Meeting {
    unsigned mask;
    unsigned arrived;
    unsigned unread;              // lanes that have met and not yet gone on
    unsigned generation;          // its last bit chooses between those who leave one meeting and
    std::uint64_t values[2][32];  // those who come to the next
    const Place* place;           // of the first that arrived
  };

  Meeting& MeetingOf(unsigned mask);
  void CheckPlace(Block& block, const Meeting& meeting, const Place& place) const;

  unsigned existing_ = 0;
  unsigned exited_ = 0;
  int num_meetings_ = 0;
  // A lane is in one meeting at a time, so that one of 32 is always free.
  Meeting meetings_[32];
};

}  // namespace zerosim::kernels::executor
