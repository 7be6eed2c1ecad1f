#include "kernels/executor/shared_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "kernels/executor/sanitizers.h"

namespace zerosim::kernels::executor {
namespace {

constexpr std::size_t kGap = 64;  // before each array
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxAlignment = 256;
constexpr int kFill = 0xFF;

constexpr std::size_t RoundUp(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

// What a block can need: its tags and arrays, and before each array a gap and the rest to an odd
// multiple of its alignment.
constexpr std::size_t kBlockSize = RoundUp(
    SharedMemory::kNumTags + kMaxShared + (kMaxStaticArrays + 1) * (kGap + 2 * kMaxAlignment),
    kPage);
// ThreadSanitizer keeps some kilobytes for each tag: not too many blocks before addresses come
// again.
constexpr std::size_t kArenaSize = kTsan ? std::size_t{16} << 20 : kBlockSize;

// ThreadSanitizer would see memset, though not this loop, as the calling fibre's write.
void Fill(char* begin, std::size_t size) {
  if (!kTsan) {
    std::memset(begin, kFill, size);
    return;
  }
  for (volatile char* byte = begin; byte != begin + size; ++byte) *byte = static_cast<char>(kFill);
}

}  // namespace

// A mapping of its own, for ThreadSanitizer forgets what was done to it when it goes.
SharedMemory::SharedMemory() {
  void* const mapping = mmap(nullptr, kArenaSize, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  arena_ = block_ = static_cast<char*>(mapping);
  Poison(arena_, kArenaSize);
}

SharedMemory::~SharedMemory() {
  Unpoison(arena_, kArenaSize);
  munmap(arena_, kArenaSize);
}

void SharedMemory::Reset() {
  Poison(block_, top_);
  block_ = arena_;
  top_ = 0;
}

bool SharedMemory::BeginBlock(std::size_t dynamic_size) {
  Poison(block_, top_);
  bool again = !kTsan;
  if (kTsan) {
    block_ += RoundUp(top_, kPage);
    again = block_ + kBlockSize > arena_ + kArenaSize;
    if (again) block_ = arena_;
  }
  top_ = kNumTags;
  static_size_ = 0;
  num_arrays_ = 0;
  dynamic_size_ = dynamic_size;
  dynamic_ = Place(dynamic_size, 16);
  return again;
}

void* SharedMemory::Static(const void* key, std::size_t size, std::size_t alignment) {
  for (std::size_t i = 0; i < num_arrays_; ++i) {
    if (arrays_[i].key == key) return arrays_[i].begin;
  }
  static_size_ += size;
  if (num_arrays_ == kMaxStaticArrays || alignment > kMaxAlignment ||
      static_size_ > kMaxStaticShared || static_size_ + dynamic_size_ > kMaxShared) {
    static_size_ -= size;
    return nullptr;
  }
  void* const begin = Place(size, alignment);
  arrays_[num_arrays_++] = {key, begin};
  return begin;
}

char* SharedMemory::Place(std::size_t size, std::size_t alignment) {
  const std::size_t offset = RoundUp(top_ + kGap, 2 * alignment) + alignment;
  top_ = offset + size;
  char* const begin = block_ + offset;
  Unpoison(begin, size);
  Fill(begin, size);
  return begin;
}

}  // namespace zerosim::kernels::executor
