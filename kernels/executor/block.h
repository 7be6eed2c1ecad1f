// One block of CUDA threads: who runs, who waits at the barrier, who has exited, and what went
// wrong.
//
// Checked, each with the kernel's line, the block and the thread:
//
//   - a barrier that some threads wait at in one place and others in another;
//   - a deadlock: threads wait and none can go on;
//   - what warp.h checks.
//
// A thread that has exited is no longer waited for at a barrier, as from compute capability 7.0 on.
//
// Under ThreadSanitizer the barrier orders memory among those that meet at it, and nothing orders
// two blocks. A fibre that ran in both would: so blocks take turns with two sets of fibres. What is
// hidden are races between blocks that run at an even distance alone; a random order moves them.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/executor/fibre.h"
#include "kernels/executor/indices.h"
#include "kernels/executor/kernel.h"
#include "kernels/executor/place.h"
#include "kernels/executor/schedule.h"
#include "kernels/executor/shared_memory.h"
#include "kernels/executor/warp.h"

namespace zerosim::kernels::executor {

inline constexpr int kMaxThreads = 1024;

class Block {
 public:
  Block();

  // The block that the calling fibre belongs to; null outside of kernels.
  static Block* Current();

  void BeginLaunch(const Kernel& kernel, int num_threads, std::size_t dynamic_shared, Order order,
                   std::uint64_t seed);
  // Runs all threads of a block; threadIdx and blockIdx count within blockDim and gridDim. Returns
  // false if a fault stopped it: then fault() says which, and only BeginLaunch may follow.
  bool Run();
  // What the launch did is seen by the caller.
  void EndLaunch();

  const char* fault() const { return fault_; }
  const Counts& counts() const { return counts_; }

  // What follows is called by the kernel's threads.

  // Waits for all threads of the block. Returns for how many `predicate` is not 0.
  int Barrier(int predicate, const Place& place);

  int thread() const { return current_; }
  Warp& warp() { return warps_[current_ / 32]; }
  SharedMemory& shared() { return *shared_; }
  char* TagsOfWarp() { return shared_->tags() + (1 + current_ / 32) * kTagsPerWarp; }
  void CountWarpOperation() { ++counts_.warp_operations; }

  // Suspends the calling thread, which waits at `place` (with the mask of a warp operation, 0 for
  // the barrier) until it is made ready.
  void Wait(const Place& place, unsigned mask);
  // Makes the lanes of `mask` of the caller's warp ready.
  void MakeReady(unsigned mask) { schedule_.PushLanes(current_ / 32, mask); }
  // For the last to come, which has made the others ready: who goes on first is the schedule's
  // choice.
  void GiveWay();

  // Stops the launch with a fault: "file:line: word: thread ... of block ...: " and what is
  // formatted. Blames the calling thread, or another.
  [[noreturn]] void Fail(const Place& place, const char* format, ...)
      __attribute__((format(printf, 3, 4)));
  [[noreturn]] void FailOf(int thread, const Place& place, const char* format, ...)
      __attribute__((format(printf, 4, 5)));

 private:
  struct Thread {
    uint3 index;
    const Place* place;  // where it waits, on its own stack
    unsigned mask;       // of the warp operation that it waits in; 0: at the barrier
    bool exited;
  };

  static void ThreadBody();
  static constexpr int kTagsPerWarp = 64;
  static_assert((1 + kMaxThreads / 32) * kTagsPerWarp <= int{SharedMemory::kNumTags});

  Fibre& FibreOf(int thread) {
    const int fibre = first_fibre_ + thread;
    return *fibres_[static_cast<std::size_t>(fibre)];
  }
  void SwitchFrom(Fibre& from);
  void Exit();
  void ReleaseBarrier();
  void DescribeDeadlock();
  [[noreturn]] void Stop(int thread, const Place& place, const char* format, std::va_list values);

  Kernel kernel_ = {};
  int num_threads_ = 0;
  std::size_t dynamic_shared_ = 0;
  int current_ = 0;      // the thread that runs
  int exited_ = 0;       // threads
  int first_fibre_ = 0;  // thread t runs on fibre first_fibre_ + t

  int arrived_ = 0;  // threads at the barrier
  unsigned at_barrier_[kMaxThreads / 32] = {};
  const Place* barrier_place_ = nullptr;  // of the first that arrived
  unsigned generation_ = 0;               // of the barrier; its last bit chooses between
  int predicates_[2] = {};                // those who leave one and those who come to the next

  Schedule schedule_;
  Counts counts_;
  Fibre* host_ = nullptr;  // who called Run
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::unique_ptr<SharedMemory> shared_;
  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<Warp[]> warps_;
  char begin_tag_ = 0;  // ThreadSanitizer: the host's past before each thread,
  char end_tag_ = 0;    // and each thread's past before the end of the launch
  bool failed_ = false;
  char fault_[1024] = {};  // fixed: a string on an abandoned fibre would leak
};

}  // namespace zerosim::kernels::executor
