// CUDA's words for loads and stores with cache hints, and for atomics.
//
// Hints are ignored. A load or store must be aligned to its type, else it is a fault; a plain
// access through a pointer is checked by UndefinedBehaviorSanitizer only (clang's does not look at
// copies of structs). Atomics are relaxed, as CUDA's are: they order no other memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/executor/operations.h"

namespace zerosim::kernels {
namespace executor {

// Replaces *address by what `change` makes of it; returns what it was.
template <class T, class Change>
T AtomicChange(T* address, Change change) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  T changed = change(old);
  while (!__atomic_compare_exchange(address, &old, &changed, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
    changed = change(old);
  }
  return old;
}

// Integers wrap around.
template <class T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

// So that the type of a value is not deduced: atomicAdd(&of_unsigned, 1) is valid CUDA.
template <class T>
struct Same {
  using type = T;
};

// What lies at `address`, which must be aligned.
template <class T>
T& Aligned(T* address, const Place& place) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number % alignof(T) != 0) FailMisaligned(number, alignof(T), place);
  return *address;
}

}  // namespace executor

template <class T>
T __ldg(const T* from, ZEROSIM_HERE) {
  return executor::Aligned(from, ZEROSIM_PLACE("__ldg"));
}
template <class T>
T __ldcs(const T* from, ZEROSIM_HERE) {
  return executor::Aligned(from, ZEROSIM_PLACE("__ldcs"));
}
template <class T>
T __ldcg(const T* from, ZEROSIM_HERE) {
  return executor::Aligned(from, ZEROSIM_PLACE("__ldcg"));
}
template <class T>
void __stcs(T* to, typename executor::Same<T>::type value, ZEROSIM_HERE) {
  executor::Aligned(to, ZEROSIM_PLACE("__stcs")) = value;
}
template <class T>
void __stcg(T* to, typename executor::Same<T>::type value, ZEROSIM_HERE) {
  executor::Aligned(to, ZEROSIM_PLACE("__stcg")) = value;
}

template <class T>
T atomicAdd(T* address, typename executor::Same<T>::type value) {
  return executor::AtomicChange(address, [value](T old) { return executor::Sum(old, value); });
}
template <class T>
T atomicMin(T* address, typename executor::Same<T>::type value) {
  return executor::AtomicChange(address, [value](T old) { return value < old ? value : old; });
}
template <class T>
T atomicMax(T* address, typename executor::Same<T>::type value) {
  return executor::AtomicChange(address, [value](T old) { return old < value ? value : old; });
}

}  // namespace zerosim::kernels
