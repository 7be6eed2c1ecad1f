// A fibre: a thread of control with a stack of its own that runs until it switches to another. The
// executor has one for each CUDA thread of a block.
//
// The switch is Boost.Context's jump_fcontext, which makes no system call (the C library's
// swapcontext makes one, and takes 20 times as long). Sanitizers are told of each switch:
// AddressSanitizer which stack is in use; ThreadSanitizer which fibre runs, and that the switch
// itself orders nothing, so that only what CUDA orders is ordered.
//
// Not there: moving a fibre from one host thread to another; exceptions that leave a fibre; a stack
// that grows. A fibre that overruns its stack (64 KiB, 256 KiB under sanitizers) hits a guard page:
// SIGSEGV.
#pragma once

#include <cstddef>

namespace zerosim::kernels::executor {

class Fibre {
 public:
  // The calling host thread, or whatever fibre of another library is running on it.
  Fibre();
  // Runs `body`, which must never return, from the first switch on.
  explicit Fibre(void (*body)());
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Suspends this fibre, which must be the one that is running, until another switches to it.
  void SwitchTo(Fibre& to);
  // For a suspended fibre that will never run again: what it did, it did before `tag` is acquired.
  void ReleaseForGood(char* tag);

 private:
  struct Switch;
  static void Start(void* previous_context, void* the_switch);

  void* context_ = nullptr;  // where it is suspended
  void (*body_)() = nullptr;
  char* mapping_ = nullptr;  // a guard page, then the stack; null for the host's
  const void* stack_ = nullptr;
  std::size_t stack_size_ = 0;
  void* fake_stack_ = nullptr;             // AddressSanitizer's, while suspended
  [[maybe_unused]] void* tsan_ = nullptr;  // ThreadSanitizer's
};

}  // namespace zerosim::kernels::executor
