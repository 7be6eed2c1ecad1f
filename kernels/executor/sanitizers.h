// Which sanitizer the build has, and what the executor tells it.
//
// Under ThreadSanitizer only the kernels are instrumented: the executor, whose own memory is handed
// from fibre to fibre, is compiled without it and is told by ZEROSIM_EXECUTOR_TSAN that it is
// linked to it (CMakeLists.txt).
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ZEROSIM_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ZEROSIM_ASAN 1
#endif

#if defined(ZEROSIM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(ZEROSIM_EXECUTOR_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace zerosim::kernels::executor {

#if defined(ZEROSIM_EXECUTOR_TSAN)
inline constexpr bool kTsan = true;
#else
inline constexpr bool kTsan = false;
#endif

// AddressSanitizer reports each access to poisoned memory.
inline void Poison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t size) {
#if defined(ZEROSIM_ASAN)
  ASAN_POISON_MEMORY_REGION(begin, size);
#endif
}

inline void Unpoison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t size) {
#if defined(ZEROSIM_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(begin, size);
#endif
}

// What a fibre did before it released `tag` happens before what another does after it has acquired
// it. ThreadSanitizer knows of no other order between fibres.
inline void Release([[maybe_unused]] char* tag) {
#if defined(ZEROSIM_EXECUTOR_TSAN)
  __tsan_release(tag);
#endif
}

inline void Acquire([[maybe_unused]] char* tag) {
#if defined(ZEROSIM_EXECUTOR_TSAN)
  __tsan_acquire(tag);
#endif
}

}  // namespace zerosim::kernels::executor
