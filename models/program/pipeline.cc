#include "models/program/pipeline.h"

#include <algorithm>

namespace zerosim {
namespace {

// The k-th forward or backward pass of a stage.
Pass PassAt(int k, bool backward, int stages, int virtual_stages) {
  const int round = stages * virtual_stages;  // passes until the same chunk runs again
  int chunk = k % round / stages;
  if (backward) chunk = virtual_stages - 1 - chunk;
  return {backward, k / round * stages + k % stages, chunk};
}

}  // namespace

std::vector<Pass> PassesOfStage(int stage, int stages, int micro_batches, int virtual_stages) {
  const int total = micro_batches * virtual_stages;
  const int ahead = virtual_stages == 1 ? stages - stage - 1
                                        : 2 * (stages - stage - 1) + (virtual_stages - 1) * stages;
  const int warm_up = std::min(ahead, total);
  std::vector<Pass> passes;
  const auto forward = [&](int k) {
    passes.push_back(virtual_stages == 1 ? Pass{false, k, 0}
                                         : PassAt(k, false, stages, virtual_stages));
  };
  const auto backward = [&](int k) {
    passes.push_back(virtual_stages == 1 ? Pass{true, k, 0}
                                         : PassAt(k, true, stages, virtual_stages));
  };
  for (int k = 0; k < warm_up; ++k) forward(k);
  for (int k = warm_up; k < total; ++k) {
    forward(k);
    backward(k - warm_up);
  }
  for (int k = total - warm_up; k < total; ++k) backward(k);
  return passes;
}

}  // namespace zerosim
