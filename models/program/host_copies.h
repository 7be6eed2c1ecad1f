// Copies between a GPU and its node's memory, as offload makes them (PCIe, the GPU's copy engines).
#pragma once

#include "models/program/collective_kinds.h"
#include "models/program/program_writer.h"
#include "models/scenario/scenario.h"

namespace zerosim {

// Copies of one direction run one after the other; those of both directions beside each other.
class HostCopies {
 public:
  // `writer` and `scenario` must outlive it.
  HostCopies(const Scenario& scenario, CollectiveKinds kinds, ProgramWriter* writer)
      : scenario_(&scenario), kinds_(kinds), writer_(writer) {}

  // Each launches `copies` copies of `bytes` together on `stream`, which waits for them; so does
  // the host unless the host's buffer is pinned. `name` is what reports call them.
  void ToHost(Stream stream, const char* name, const Label& label, Bytes bytes, int copies,
              bool pinned);
  void ToGpu(Stream stream, const char* name, const Label& label, Bytes bytes, int copies,
             bool pinned);

 private:
  void Copy(Stream stream, Communicator engine, const char* name, Label label, Bytes bytes,
            int copies, bool pinned);

  const Scenario* scenario_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
};

}  // namespace zerosim
