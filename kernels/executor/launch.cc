#include "kernels/executor/launch.h"

#include <algorithm>
#include <cstdio>

#include "kernels/executor/block.h"
#include "kernels/executor/indices.h"

namespace zerosim::kernels::executor {
namespace {

// Fibres and shared memory outlive a launch: making a thousand of them takes longer than most
// blocks.
thread_local Block block_of_thread;
thread_local LaunchResult last_result;

std::string Text(const char* format, unsigned x, unsigned y, unsigned z) {
  char text[160];
  std::snprintf(text, sizeof(text), format, x, y, z);
  return text;
}

// Returns what is wrong with a configuration; empty if nothing.
std::string Complaint(dim3 grid, dim3 block, std::size_t dynamic_shared) {
  if (Block::Current() != nullptr) return "a kernel cannot launch a kernel";
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.z > 64 || threads < 1 ||
      threads > kMaxThreads) {
    return Text("a block of (%u,%u,%u) threads; 1 to 1024 are allowed, of which 64 in z", block.x,
                block.y, block.z);
  }
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > 0x7fffffff || grid.y > 65535 ||
      grid.z > 65535) {
    return Text(
        "a grid of (%u,%u,%u) blocks; 1 to 2147483647 are allowed in x, 1 to 65535 in y and z",
        grid.x, grid.y, grid.z);
  }
  if (dynamic_shared > kMaxShared) {
    return std::to_string(dynamic_shared) + " bytes of dynamic shared memory; 232448 are allowed";
  }
  return "";
}

LaunchResult Run(const LaunchOptions& options, dim3 grid, dim3 block, std::size_t dynamic_shared,
                 const Kernel& kernel) {
  LaunchResult result;
  result.message = Complaint(grid, block, dynamic_shared);
  if (!result.message.empty()) {
    result.status = LaunchStatus::kInvalidConfiguration;
    return result;
  }
  gridDim = grid;
  blockDim = block;
  const std::uint64_t rows = std::uint64_t{grid.y} * grid.z;
  const std::uint64_t num_blocks = rows * grid.x;  // < 2^63
  const std::uint64_t first = std::min(options.first_block, num_blocks);

  Block& runner = block_of_thread;
  runner.BeginLaunch(kernel, static_cast<int>(block.x * block.y * block.z), dynamic_shared,
                     options.order, options.seed);
  BlockSequence sequence(options.order, options.seed, first,
                         std::min(options.max_blocks, num_blocks - first));
  bool whole = true;
  while (whole && !sequence.done()) {
    const std::uint64_t b = sequence.Next();
    const std::uint64_t row = b / grid.x;
    blockIdx = uint3{static_cast<unsigned>(b % grid.x), static_cast<unsigned>(row % grid.y),
                     static_cast<unsigned>(row / grid.y)};
    whole = runner.Run();
  }
  runner.EndLaunch();
  if (!whole) {
    result.status = LaunchStatus::kFault;
    result.message = runner.fault();
  }
  result.counts = runner.counts();
  return result;
}

}  // namespace

LaunchResult LaunchKernel(const LaunchOptions& options, dim3 grid, dim3 block,
                          std::size_t dynamic_shared, const Kernel& kernel) {
  last_result = Run(options, grid, block, dynamic_shared, kernel);
  return last_result;
}

LaunchOptions& OptionsOfThread() {
  thread_local LaunchOptions options;
  return options;
}

const LaunchResult& LastResult() {
  return last_result;
}

}  // namespace zerosim::kernels::executor
