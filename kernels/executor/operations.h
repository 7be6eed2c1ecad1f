// What the words of synchronization.h and memory.h ask of the executor. Called by the threads of a
// kernel; `place` is where the kernel says the word.
//
// Nothing here is inline: under ThreadSanitizer kernels are instrumented and the executor is not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/executor/place.h"

namespace zerosim::kernels::executor {

// Waits for all threads of the block. Returns for how many `predicate` is not 0.
int SyncBlock(int predicate, const Place& place);

void SyncWarp(unsigned mask, const Place& place);

enum class Source { kIndex, kXor, kUp, kDown };

// Returns the value that another lane brought, or the caller's own where CUDA says so. `by` is the
// operand: a lane, a mask or a distance.
std::uint64_t Shuffle(Source source, unsigned mask, std::uint64_t value, int by, int width,
                      const Place& place);

// Copies what the lanes of the mask brought; returns which lanes those are.
unsigned Gather(unsigned mask, std::uint64_t value, std::uint64_t (&values)[32],
                const Place& place);

// Returns the lanes whose predicate is true.
unsigned Ballot(unsigned mask, bool predicate, const Place& place);

// Returns the block's array of a declaration of shared memory, which `key` stands for.
void* StaticShared(const void* key, std::size_t size, std::size_t alignment, const Place& place);

void* DynamicShared();

// Fails: `address` has not the alignment of what is loaded or stored.
[[noreturn]] void FailMisaligned(std::uintptr_t address, std::size_t alignment, const Place& place);

}  // namespace zerosim::kernels::executor
