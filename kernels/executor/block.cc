#include "kernels/executor/block.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "kernels/executor/sanitizers.h"

namespace zerosim::kernels::executor {
namespace {

thread_local Block* current_block = nullptr;

// Of fibres (block.h).
constexpr int kSets = kTsan ? 2 : 1;

// Appends to a text of fixed size, and cuts what is too long.
class FixedText {
 public:
  template <std::size_t kSize>
  explicit FixedText(char (&text)[kSize]) : end_(text), left_(kSize) {
    text[0] = '\0';
  }
  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    AddAll(format, values);
    va_end(values);
  }
  void AddAll(const char* format, std::va_list values) {
    const int size = std::vsnprintf(end_, left_, format, values);
    const std::size_t used = std::min(static_cast<std::size_t>(std::max(size, 0)), left_ - 1);
    end_ += used;
    left_ -= used;
  }

 private:
  char* end_;
  std::size_t left_;
};

}  // namespace

Block::Block()
    : shared_(std::make_unique<SharedMemory>()),
      threads_(new Thread[kMaxThreads]),
      warps_(new Warp[kMaxThreads / 32]) {}

Block* Block::Current() {
  return current_block;
}

void Block::BeginLaunch(const Kernel& kernel, int num_threads, std::size_t dynamic_shared,
                        Order order, std::uint64_t seed) {
  if (failed_) {  // stacks hold kernels that were stopped half-way
    fibres_.clear();
    shared_ = std::make_unique<SharedMemory>();
  }
  kernel_ = kernel;
  num_threads_ = num_threads;
  dynamic_shared_ = dynamic_shared;
  first_fibre_ = 0;
  counts_ = Counts();
  failed_ = false;
  schedule_.BeginLaunch(order, seed);
  shared_->Reset();
  const std::size_t num_fibres = static_cast<std::size_t>(num_threads) * kSets;
  fibres_.reserve(num_fibres);
  while (fibres_.size() < num_fibres) {
    fibres_.push_back(std::make_unique<Fibre>(&Block::ThreadBody));
  }
  for (int t = 0; t < num_threads; ++t) {
    const auto i = static_cast<unsigned>(t);
    const unsigned row = i / blockDim.x;
    threads_[t].index = uint3{i % blockDim.x, row % blockDim.y, row / blockDim.y};
  }
}

bool Block::Run() {
  if (shared_->BeginBlock(dynamic_shared_)) Acquire(&end_tag_);
  first_fibre_ = (first_fibre_ + num_threads_) % (kSets * num_threads_);
  exited_ = arrived_ = 0;
  generation_ = 0;
  std::fill(std::begin(at_barrier_), std::end(at_barrier_), 0u);
  predicates_[0] = predicates_[1] = 0;
  schedule_.BeginBlock();
  for (int w = 0; 32 * w < num_threads_; ++w) warps_[w].Begin(std::min(32, num_threads_ - 32 * w));
  for (int t = 0; t < num_threads_; ++t) {
    threads_[t].place = nullptr;
    threads_[t].exited = false;
    schedule_.Push(t);
  }

  Fibre host;
  host_ = &host;
  current_block = this;
  Release(&begin_tag_);
  current_ = -1;
  SwitchFrom(host);
  current_block = nullptr;
  return !failed_;
}

void Block::EndLaunch() {
  if (failed_) {
    for (const auto& fibre : fibres_) fibre->ReleaseForGood(&end_tag_);
  }
  Acquire(&end_tag_);
}

// Goes on with the next ready thread, or with the host if there is none.
void Block::SwitchFrom(Fibre& from) {
  const int next = schedule_.Pop();
  if (next == current_) return;
  ++counts_.switches;
  if (next >= 0) {
    current_ = next;
    threadIdx = threads_[next].index;
    from.SwitchTo(FibreOf(next));
    return;
  }
  if (exited_ != num_threads_) DescribeDeadlock();
  from.SwitchTo(*host_);
}

// What each fibre does: one thread a block, until it is abandoned.
void Block::ThreadBody() {
  for (;;) {
    Block& block = *current_block;
    Acquire(&block.begin_tag_);
    block.kernel_.call(block.kernel_.arguments);
    Release(&block.end_tag_);
    block.Exit();
  }
}

void Block::Exit() {
  warp().Exit(*this, static_cast<unsigned>(current_) % 32);
  threads_[current_].exited = true;
  ++exited_;
  if (arrived_ > 0 && arrived_ + exited_ == num_threads_) ReleaseBarrier();
  SwitchFrom(FibreOf(current_));
}

void Block::Wait(const Place& place, unsigned mask) {
  Thread& thread = threads_[current_];
  thread.place = &place;
  thread.mask = mask;
  SwitchFrom(FibreOf(current_));
}

void Block::GiveWay() {
  if (schedule_.order() == Order::kForward) return;
  schedule_.Push(current_);
  SwitchFrom(FibreOf(current_));
}

int Block::Barrier(int predicate, const Place& place) {
  if (arrived_ == 0) barrier_place_ = &place;
  if (!(*barrier_place_ == place)) {
    int first = 0;
    while ((at_barrier_[first / 32] >> (first % 32) & 1u) == 0) ++first;
    const uint3& other = threads_[first].index;
    Fail(place, "thread (%u,%u,%u) waits in %s at %s:%d; all threads must meet at the same barrier",
         other.x, other.y, other.z, barrier_place_->word, FileName(*barrier_place_),
         barrier_place_->line);
  }
  const unsigned turn = generation_ % 2;
  char* const tag = shared_->tags() + turn;
  predicates_[turn] += predicate != 0 ? 1 : 0;
  Release(tag);
  ++arrived_;
  if (arrived_ + exited_ == num_threads_) {
    ReleaseBarrier();
    GiveWay();
  } else {
    at_barrier_[current_ / 32] |= 1u << (current_ % 32);
    Wait(place, 0);
  }
  Acquire(tag);
  return predicates_[turn];
}

void Block::ReleaseBarrier() {
  ++generation_;
  predicates_[generation_ % 2] = 0;
  ++counts_.barriers;
  arrived_ = 0;
  for (int w = 0; 32 * w < num_threads_; ++w) {
    schedule_.PushLanes(w, at_barrier_[w]);
    at_barrier_[w] = 0;
  }
}

void Block::Fail(const Place& place, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  Stop(current_, place, format, values);
}

void Block::FailOf(int thread, const Place& place, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  Stop(thread, place, format, values);
}

void Block::Stop(int thread, const Place& place, const char* format, std::va_list values) {
  const uint3& index = threads_[thread].index;
  FixedText text(fault_);
  text.Add("%s:%d: %s: thread (%u,%u,%u) of block (%u,%u,%u): ", FileName(place), place.line,
           place.word, index.x, index.y, index.z, blockIdx.x, blockIdx.y, blockIdx.z);
  text.AddAll(format, values);
  failed_ = true;
  ++counts_.switches;
  FibreOf(current_).SwitchTo(*host_);
  std::abort();  // no one switches back
}

// Threads that wait at the same place with the same mask are told as one.
void Block::DescribeDeadlock() {
  failed_ = true;
  FixedText text(fault_);
  text.Add("deadlock in block (%u,%u,%u): %d of %d threads have exited", blockIdx.x, blockIdx.y,
           blockIdx.z, exited_, num_threads_);
  for (int t = 0; t < num_threads_; ++t) {
    const Thread& first = threads_[t];
    const auto alike = [&first](const Thread& other) {
      return !other.exited && other.mask == first.mask && *other.place == *first.place;
    };
    if (first.exited || std::any_of(&threads_[0], &threads_[t], alike)) continue;
    const auto count = std::count_if(&threads_[t], &threads_[num_threads_], alike);
    text.Add("; %d, of which the first is thread (%u,%u,%u), %s in %s at %s:%d",
             static_cast<int>(count), first.index.x, first.index.y, first.index.z,
             count == 1 ? "waits" : "wait", first.place->word, FileName(*first.place),
             first.place->line);
    if (first.mask != 0) text.Add(" with mask 0x%08x", first.mask);
  }
}

}  // namespace zerosim::kernels::executor
