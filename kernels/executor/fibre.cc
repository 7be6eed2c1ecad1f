#include "kernels/executor/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include <boost/context/detail/fcontext.hpp>

#include "kernels/executor/sanitizers.h"

#if defined(ZEROSIM_EXECUTOR_TSAN)
// A block has up to two thousand fibres, and each keeps a history of this size: 256 KiB.
// TSAN_OPTIONS wins.
extern "C" const char* __tsan_default_options() {
  return "history_size=0";
}
#endif

namespace zerosim::kernels::executor {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

#if defined(ZEROSIM_ASAN) || defined(ZEROSIM_EXECUTOR_TSAN)
constexpr std::size_t kStackSize = 256 * 1024;
#else
constexpr std::size_t kStackSize = 64 * 1024;
#endif

std::size_t PageSize() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

// Lies on the stack of the fibre that leaves, and is read by the one that arrives.
struct Fibre::Switch {
  Fibre* from;
  Fibre* to;
};

// The first thing on a fibre's own stack; later arrivals are in SwitchTo.
void Fibre::Start(void* previous_context, void* the_switch) {
  const Switch now = *static_cast<const Switch*>(the_switch);
  now.from->context_ = previous_context;
#if defined(ZEROSIM_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &now.from->stack_, &now.from->stack_size_);
#endif
  now.to->body_();
}

Fibre::Fibre() {
#if defined(ZEROSIM_EXECUTOR_TSAN)
  tsan_ = __tsan_get_current_fiber();
#endif
}

Fibre::Fibre(void (*body)()) : body_(body), stack_size_(kStackSize) {
  const std::size_t guard = PageSize();
  void* const mapping = mmap(nullptr, guard + kStackSize, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<char*>(mapping);
  if (mprotect(mapping_, guard, PROT_NONE) != 0) throw std::bad_alloc();
  stack_ = mapping_ + guard;
  // The addresses may carry what AddressSanitizer knew of an earlier mapping.
  Unpoison(stack_, stack_size_);
  context_ = make_fcontext(mapping_ + guard + kStackSize, kStackSize,
                           [](transfer_t from) { Start(from.fctx, from.data); });
#if defined(ZEROSIM_EXECUTOR_TSAN)
  tsan_ = __tsan_create_fiber(0);
#endif
}

Fibre::~Fibre() {
  if (mapping_ == nullptr) return;
#if defined(ZEROSIM_EXECUTOR_TSAN)
  __tsan_destroy_fiber(tsan_);
#endif
  Unpoison(stack_, stack_size_);
  munmap(mapping_, PageSize() + kStackSize);
}

void Fibre::SwitchTo(Fibre& to) {
  Switch now = {this, &to};
#if defined(ZEROSIM_ASAN)
  __sanitizer_start_switch_fiber(&fake_stack_, to.stack_, to.stack_size_);
#endif
#if defined(ZEROSIM_EXECUTOR_TSAN)
  __tsan_switch_to_fiber(to.tsan_, __tsan_switch_to_fiber_no_sync);
#endif
  const transfer_t back = jump_fcontext(to.context_, &now);
  Fibre* const previous = static_cast<const Switch*>(back.data)->from;
  previous->context_ = back.fctx;
#if defined(ZEROSIM_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack_, &previous->stack_, &previous->stack_size_);
#endif
}

void Fibre::ReleaseForGood([[maybe_unused]] char* tag) {
#if defined(ZEROSIM_EXECUTOR_TSAN)
  void* const caller = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_, __tsan_switch_to_fiber_no_sync);
  Release(tag);
  __tsan_switch_to_fiber(caller, __tsan_switch_to_fiber_no_sync);
#endif
}

}  // namespace zerosim::kernels::executor
