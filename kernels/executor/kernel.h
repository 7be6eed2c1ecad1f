// What a launch runs, and what is counted of it.
#pragma once

#include <cstdint>

namespace zerosim::kernels::executor {

// What the threads of a launch run.
struct Kernel {
  void (*call)(const void* arguments);
  const void* arguments;
};

// What happened since the launch began.
struct Counts {
  std::uint64_t switches = 0;         // of fibres
  std::uint64_t barriers = 0;         // that were passed, once for each block
  std::uint64_t warp_operations = 0;  // once for each lane
};

}  // namespace zerosim::kernels::executor
