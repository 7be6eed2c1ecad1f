// The shared memory of the block that runs.
//
// It is filled with bytes 0xFF, NaN in each floating-point type, so that a value that nobody wrote
// shows. Each array has the alignment of its type and no more, as nvcc promises no more:
// UndefinedBehavior- Sanitizer finds an access that needs a greater one. Arrays lie apart and only
// they may be touched: AddressSanitizer finds an overrun. Under ThreadSanitizer each block has
// addresses of its own, since blocks are not ordered and an address in common would look like a
// race, or, if it is one on which threads synchronise (tags), would order them.
//
// Not modelled: banks and their conflicts; distributed shared memory.
#pragma once

#include <cstddef>

namespace zerosim::kernels::executor {

// Of Hopper (CUDA programming guide, technical specifications by compute capability): per block, in
// all and of that static.
inline constexpr std::size_t kMaxShared = 227 * 1024;
inline constexpr std::size_t kMaxStaticShared = 48 * 1024;
inline constexpr std::size_t kMaxStaticArrays = 64;  // ours

class SharedMemory {
 public:
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Discards all arrays; `dynamic_size` is at most kMaxShared. Returns whether addresses of earlier
  // blocks of the launch come again.
  bool BeginBlock(std::size_t dynamic_size);
  // As BeginBlock, for the first block of a launch or after the last: no earlier one may still run.
  void Reset();

  // Bytes for sanitizers.h's Release and Acquire, the block's own.
  static constexpr std::size_t kNumTags = 4096;
  char* tags() const { return block_; }

  void* dynamic() const { return dynamic_; }
  std::size_t dynamic_size() const { return dynamic_size_; }
  std::size_t static_size() const { return static_size_; }

  // The static array of a declaration, which `key` stands for: made when it is first asked for, the
  // same for all threads of the block. Null if it is one too many.
  void* Static(const void* key, std::size_t size, std::size_t alignment);

 private:
  struct Array {
    const void* key;
    void* begin;
  };

  char* Place(std::size_t size, std::size_t alignment);

  char* arena_;
  char* block_;  // where the block's part begins
  std::size_t top_ = 0;
  void* dynamic_ = nullptr;
  std::size_t dynamic_size_ = 0;
  std::size_t static_size_ = 0;
  std::size_t num_arrays_ = 0;
  Array arrays_[kMaxStaticArrays];
};

}  // namespace zerosim::kernels::executor
