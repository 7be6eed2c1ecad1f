// Runs CUDA kernels on the host: the function that nvcc would compile for the device, compiled by
// g++ or clang++, called once for each thread of the grid.
//
//   executor::LaunchOptions options;
//   options.order = executor::Order::kRandom;
//   const executor::LaunchResult result =
//       executor::Launch(options, grid, block, dynamic_shared, MyKernel<__half>, in, out, n);
//   EXPECT_EQ(result.message, "");
//
// Blocks run one after another on the calling host thread, each thread of a block as a fibre.
// Several host threads may launch at once. What finds what:
//
//   fault of the kernel                        schedules       AddressSan.   ThreadSan.
//   a rule of barriers, masks or limits        message
//   misaligned __ldcs, __stcs, ...             message
//   barrier or __syncwarp missing              wrong result                  both lines
//   barrier missing at the end of a loop       in most orders                both lines
//   shuffle where __syncwarp is needed                                       both lines
//   race between blocks, or of equal values                                  both lines
//   increment that is not atomic                                             both lines
//   shared memory read before it is written    NaN
//   overrun of shared or global memory                         line
//   other misaligned access                                    UBSan: line
//
// The rules are in block.h and warp.h. Schedules are kForward, kReverse and some seeds of kRandom;
// none of them needs a sanitizer.
//
// Not modelled: time; caches and the weakness of memory fences (a flag that one block waits for and
// another sets spins forever); the registers and shared memory of a multiprocessor; streams,
// clusters, cooperative launches, launches from kernels; cp.async, TMA, mbarriers, tensor cores,
// inline PTX.
//
// Assumed: x86-64, as far as tested. Floating point without contraction and aliasing rules as loose
// as nvcc's: what links to the executor is compiled with -ffp-contract=off -fno-strict-aliasing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/executor/kernel.h"
#include "kernels/executor/schedule.h"
#include "kernels/executor/vector_types.h"

namespace zerosim::kernels::executor {

struct LaunchOptions {
  Order order = Order::kForward;
  std::uint64_t seed = 1;  // of kRandom
  // Only these blocks are run, x counting fastest: a few of a grid that would take too long.
  std::uint64_t first_block = 0;
  std::uint64_t max_blocks = ~std::uint64_t{0};
};

enum class LaunchStatus {
  kDone,
  kInvalidConfiguration,  // nothing ran
  kFault,                 // the kernel broke a rule; what it has written is unspecified
};

struct LaunchResult {
  LaunchStatus status = LaunchStatus::kDone;
  std::string message;  // empty if done
  Counts counts;

  bool ok() const { return status == LaunchStatus::kDone; }
};

// Limits of CUDA (programming guide, technical specifications by compute capability): 1024 threads
// a block, of which 64 in z; a grid of less than 2^31 in x, 65,535 in y and z; 227 KiB of dynamic
// shared memory.
LaunchResult LaunchKernel(const LaunchOptions& options, dim3 grid, dim3 block,
                          std::size_t dynamic_shared, const Kernel& kernel);

// The options of launches of the calling host thread that are given none, so that a test chooses
// them for launchers that know nothing of the executor.
LaunchOptions& OptionsOfThread();
// The last launch of the calling host thread.
const LaunchResult& LastResult();

// Arguments are converted to the kernel's parameters once; each thread gets copies.
template <class... Parameters, class... Arguments>
LaunchResult Launch(const LaunchOptions& options, dim3 grid, dim3 block, std::size_t dynamic_shared,
                    void (*kernel)(Parameters...), Arguments&&... arguments) {
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<std::decay_t<Parameters>...> parameters;
  };
  const Call call = {kernel, {std::forward<Arguments>(arguments)...}};
  const auto run = [](const void* opaque) {
    const auto& bound = *static_cast<const Call*>(opaque);
    std::apply(bound.kernel, bound.parameters);
  };
  return LaunchKernel(options, grid, block, dynamic_shared, {run, &call});
}

}  // namespace zerosim::kernels::executor
