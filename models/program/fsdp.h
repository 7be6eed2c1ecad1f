// PyTorch FSDP's schedule: one flat parameter a unit (a transformer block, or what lies outside of
// all), gathered before the unit runs, released after it, its gradients reduced as one.
//
// With offload (torch/distributed/fsdp/_runtime_utils.py, _pre_unshard and _offload_grad; FSDP2's
// CPUOffloadPolicy) a unit's fp32 shard is copied to the GPU before it is cast and gathered, and
// its reduced gradients to the host; the optimizer runs there.
//
// Frozen weights (LoRA) are gathered with the others of their unit and are in 16 bit, or quantised,
// in their shards too; only the gradients of trained ones are reduced, as in FSDP2 (FSDP1 needs
// use_orig_params for it).
//
// Not modelled: padding of each parameter by itself
// (FSDP2), graph breaks of compilation.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/program/collective_kinds.h"
#include "models/program/fsdp_spans.h"
#include "models/program/host_copies.h"
#include "models/program/sharding.h"
#include "models/program/trace.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

class FsdpSharding : public Sharding {
 public:
  // All arguments must outlive it. Requires scenario.fsdp.
  FsdpSharding(const Scenario& scenario, const ModelLayout& layout, const std::vector<Visit>& trace,
               const CollectiveKinds& kinds, ProgramWriter* writer);

  void StartMicroStep(const Label& label, bool last) override;
  void Before(int v, const Label& label) override;
  void After(int v, const Label& label) override;
  void BetweenPasses(const Label&) override {}
  void FinishMicroStep(const Label& label) override;
  bool IsQuiet() const override {
    return fsdp_->sharding == FsdpStrategy::kNoShard && fsdp_->no_sync && !last_;
  }
  std::int64_t optimizer_elements() const override;
  std::int64_t host_optimizer_elements() const override {
    return fsdp_->offload ? optimizer_elements() : 0;
  }
  void FinishStep(const Label& label) override;

 private:
  // A unit and the state that it is in.
  struct Unit : FsdpUnit {
    bool gathered = false;       // or in flight
    bool copied = false;         // into its parameters
    bool secondary = false;      // hpZ's second shard is written
    bool has_gradients = false;  // in full, of earlier micro-steps (no_sync)
    OpId ready = OpId{};         // its weights are there
  };
  // Weights that were released when `op` is done.
  struct Released {
    OpId op;
    Bytes bytes;
  };

  void Unshard(int unit, const Label& label);
  void Reshard(int unit, const Label& label);
  void ReduceGradients(int unit, const Label& label);
  // The same for the piece of a unit that the ranks of `communicator` share.
  void GatherPiece(Communicator communicator, const FsdpPiece& piece, const Label& label,
                   Unit* unit);
  void ReducePart(Communicator communicator, std::int64_t elements, const Label& label);
  std::int64_t ShardOf(const Unit& unit) const;
  void ReduceShard(const Unit& unit, const Label& label);
  void WaitForRelease(const Label& label);
  bool ReleasesAfterForward(const Unit& unit) const;
  static Bytes Full(const Unit& unit) { return Bytes::Count(2 * unit.elements()); }
  static Bytes Gradients(const Unit& unit) { return Bytes::Count(2 * unit.trainable()); }
  // Of one of `shards` shards: frozen weights as they are kept, without trained ones.
  static Bytes FrozenShard(const FsdpPiece& piece, int bits, int shards);

  const Scenario* scenario_;
  const FsdpConfig* fsdp_;
  const ModelLayout* layout_;
  const std::vector<Visit>* trace_;
  FsdpSpans spans_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
  HostCopies copies_;
  std::vector<Unit> units_;
  std::deque<Released> released_;  // that the host has not waited for
  Bytes gradients_in_flight_;      // full gradients that the reduce stream still reads
  Bytes secondary_bytes_;
  bool last_ = false;
};

}  // namespace zerosim
