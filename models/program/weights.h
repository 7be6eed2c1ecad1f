// Weights of a ZeRO-3 rank on their way from their shards to the compute stream and back.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "models/program/collective_kinds.h"
#include "models/program/coordinator.h"
#include "models/program/host_copies.h"
#include "models/program/program_writer.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// Gathers as FetchCoordinator decides, with DeepSpeed's streams: the gather stream launches a
// coalesced all-gather (with qwZ: of INT8 values, then of scales); whoever needs it waits, and at
// the first wait the values are dequantised and copied into place on the gather stream. Under hpZ
// the secondary shard is written when a weight is first released in an optimizer step, and from
// then on gathers stay in its group. With offload_param the shards, hpZ's too, lie in the host's
// memory: the gather stream first copies a gather's own shards to the GPU. Frozen weights that are
// kept quantised travel so, without being quantised again (MixZ++), in gathers of their own.
class WeightGatherer {
 public:
  WeightGatherer(const Scenario& scenario, const ModelLayout& layout,
                 const std::vector<Visit>& trace, CollectiveKinds kinds, ProgramWriter* writer);

  void StartMicroStep();

  // Before the module of visit `v` runs: fetch, wait, prefetch. Compute then waits for the weights.
  void Before(int v, const Label& label);

  // After it ran: release, and write the secondary shard.
  void After(int v, const Label& label);

  // Waits for what is unfinished.
  void FinishMicroStep(const Label& label);

  // After the optimizer: refresh persistent weights, drop the secondary shard.
  void FinishStep(const Label& label);

 private:
  // One coalesced all-gather in flight.
  struct Handle {
    OpId gather;
    std::int64_t elements = 0;
    std::size_t weights = 0;
    std::optional<OpId> ready;  // set by the first wait
    Bytes buffer;               // that the collective writes, as it travels
    std::optional<QuantizationFormat> format;
  };

  void Gather(const std::vector<int>& weights, const Label& label);
  // Of weights that are kept in `bits`.
  void GatherFrom(Communicator communicator, const std::vector<int>& weights, int bits,
                  const Label& label);
  void WriteSecondary(int weight, const Label& label);
  void Wait(int weight, const Label& label);
  void FinishFetch(const Label& label);
  bool UsesSecondary(int weight, const Label& label) const;
  bool MayOverlap(const Label& label) const;

  const Scenario* scenario_;
  const ModelLayout* layout_;
  const std::vector<Visit>* trace_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
  HostCopies copies_;
  std::vector<bool> persistent_;
  FetchCoordinator coordinator_;
  std::vector<int> handle_of_;  // of each weight, place in handles_; -1: not in flight
  std::vector<Handle> handles_;
  std::vector<bool> has_secondary_;
  struct Fetch {
    OpId op;
    Bytes buffers;  // beside the weights, until `op` is done
  };
  std::deque<Fetch> unfinished_;  // that compute waited for
  Bytes secondary_bytes_;
};

}  // namespace zerosim
