#include "kernels/executor/operations.h"

#include "kernels/executor/block.h"
#include "kernels/executor/shared_memory.h"
#include "kernels/executor/warp.h"

namespace zerosim::kernels::executor {

int SyncBlock(int predicate, const Place& place) {
  return Block::Current()->Barrier(predicate, place);
}

void SyncWarp(unsigned mask, const Place& place) {
  Block& block = *Block::Current();
  block.warp().Meet(block, mask, 0, true, place);
}

std::uint64_t Shuffle(Source source, unsigned mask, std::uint64_t value, int by, int width,
                      const Place& place) {
  Block& block = *Block::Current();
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    block.Fail(place, "width %d is not a power of two from 1 to 32", width);
  }
  // A segment of `width` lanes is a warp of its own, save that kXor may read earlier ones (CUDA
  // programming guide, warp shuffle functions). Of an operand PTX reads five bits (PTX ISA,
  // shfl.sync).
  const int lane = block.thread() % 32;
  const int begin = lane & ~(width - 1);
  const int distance = by & 31;
  int from = lane;
  switch (source) {
    case Source::kIndex:
      from = begin + (by & (width - 1));
      break;
    case Source::kXor:
      from = (lane ^ distance) < begin + width ? lane ^ distance : lane;
      break;
    case Source::kUp:
      from = lane - distance >= begin ? lane - distance : lane;
      break;
    case Source::kDown:
      from = lane + distance < begin + width ? lane + distance : lane;
      break;
  }
  Warp& warp = block.warp();
  const std::uint64_t* const values = warp.Meet(block, mask, value, false, place);
  if ((mask & warp.existing() & 1u << from) == 0) {
    block.Fail(place, "reads lane %d, which %s", from,
               (mask >> from & 1u) == 0 ? "its mask does not name" : "the block does not have");
  }
  return values[from];
}

unsigned Gather(unsigned mask, std::uint64_t value, std::uint64_t (&values)[32],
                const Place& place) {
  Block& block = *Block::Current();
  Warp& warp = block.warp();
  // volatile: ThreadSanitizer would see memcpy, into which the compiler would turn this.
  const volatile std::uint64_t* const brought = warp.Meet(block, mask, value, false, place);
  for (int lane = 0; lane < 32; ++lane) values[lane] = brought[lane];
  return mask & warp.existing();
}

unsigned Ballot(unsigned mask, bool predicate, const Place& place) {
  Block& block = *Block::Current();
  Warp& warp = block.warp();
  const std::uint64_t* const values = warp.Meet(block, mask, predicate ? 1 : 0, false, place);
  unsigned votes = 0;
  for (unsigned left = mask & warp.existing(); left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    votes |= static_cast<unsigned>(values[lane]) << lane;
  }
  return votes;
}

void* StaticShared(const void* key, std::size_t size, std::size_t alignment, const Place& place) {
  Block& block = *Block::Current();
  SharedMemory& shared = block.shared();
  void* const array = shared.Static(key, size, alignment);
  if (array == nullptr) {
    block.Fail(
        place,
        "%zu bytes beside %zu of static and %zu of dynamic shared memory; a block has %zu of "
        "static, in at most %zu arrays, and %zu in all",
        size, shared.static_size(), shared.dynamic_size(), kMaxStaticShared, kMaxStaticArrays,
        kMaxShared);
  }
  return array;
}

void FailMisaligned(std::uintptr_t address, std::size_t alignment, const Place& place) {
  Block::Current()->Fail(place, "the address is %zu more than a multiple of %zu",
                         static_cast<std::size_t>(address % alignment), alignment);
}

void* DynamicShared() {
  return Block::Current()->shared().dynamic();
}

}  // namespace zerosim::kernels::executor
