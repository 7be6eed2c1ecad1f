// What a framework does around the modules of a step: gathers weights, releases them, reduces
// gradients. The step itself (which modules run, what they compute) is the same for all.
#pragma once

#include "models/program/program_writer.h"

namespace zerosim {

class Sharding {
 public:
  virtual ~Sharding() = default;

  // A micro-step begins; `last` of its optimizer step.
  virtual void StartMicroStep(const Label& label, bool last) = 0;

  // The module of visit `v` is about to run: its weights must be there for the compute stream.
  virtual void Before(int v, const Label& label) = 0;

  // Its kernels are launched.
  virtual void After(int v, const Label& label) = 0;

  // Forward is launched, backward comes next.
  virtual void BetweenPasses(const Label& label) = 0;

  // All modules have run: what is left of gradients is reduced.
  virtual void FinishMicroStep(const Label& label) = 0;

  // Whether passes of this micro-step launch compute kernels alone: nothing is gathered, reduced or
  // waited for.
  virtual bool IsQuiet() const = 0;

  // Elements of weights that this rank's optimizer updates, and those of them that it updates on
  // the CPU.
  virtual std::int64_t optimizer_elements() const = 0;
  virtual std::int64_t host_optimizer_elements() const = 0;

  // The optimizer has run on the compute stream.
  virtual void FinishStep(const Label& label) = 0;
};

}  // namespace zerosim
