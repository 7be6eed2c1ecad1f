// Gradients on their way from backward to the rank that owns them, by stage.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/program/collective_kinds.h"
#include "models/program/host_copies.h"
#include "models/program/program_writer.h"
#include "models/scenario/scenario.h"
#include "models/transformer/transformer.h"

namespace zerosim {

// DeepSpeed's bucket of gradients (stage3.py and stage_1_and_2.py, __reduce_and_partition_ipg_grads
// at edaa722): gradients are added as backward produces them; when one more would exceed
// reduce_bucket_size elements the bucket is reduced first. At most two reductions are unfinished:
// the host waits for the third last. Under qgZ (stage 3, more than one node) each matrix of a
// bucket goes through the two-hop all-to-all by itself, and each vector through a 16-bit
// reduce-scatter by itself; in stages 1 and 2 (SDP4Bit, arXiv 2410.15526, section 3.2; its
// smoothing by a Hadamard transform is part of the kernels and adds no bytes) a bucket goes through
// as one. Stage 3 without reduce_scatter all-reduces the bucket's flat buffer instead, where there
// is one (contiguous_gradients) and the bucket fits into it.
//
// With offload_optimizer the shard's gradients are copied to the host, from the stream that reduced
// them. Stage 3 (partition_grads): every micro-step puts them into a 16-bit buffer of the host and
// fetches them from there, to add to them and to take their norm; the last one copies them to the
// CPU's optimizer in fp32, for the part of the states that is there. Stages 1 and 2
// (copy_grads_in_partition): the last micro-step copies them in fp32; with several, the others keep
// their sum in the host in 16 bit, which each but the first fetches.
class GradientReducer {
 public:
  GradientReducer(const Scenario& scenario, const ModelLayout& layout, CollectiveKinds kinds,
                  ProgramWriter* writer);

  // A micro-step begins; `boundary`: the last of its optimizer step.
  void StartMicroStep(bool boundary) { boundary_ = boundary; }

  // The gradient of `weight`, or a first part of it, takes memory from now on.
  void Begin(int weight);

  // The gradient of `weight` is complete on the compute stream.
  void Add(int weight, const Label& label);

  // Reduces what is left in the bucket.
  void Flush(const Label& label);

 private:
  const ProcessGroups& groups() const { return kinds_.groups(); }
  void Reduce(const Label& label);
  // Over the stage's group, or another.
  void ReduceTogether(const std::vector<int>& weights, const Label& label,
                      std::optional<Communicator> over = std::nullopt);
  void ReduceFlat(CollectiveOp operation, Communicator communicator, std::int64_t elements,
                  int calls, const Label& label);
  void ReduceQuantized(int weight, const Label& label);
  void ReduceQuantizedBucket(const std::vector<int>& weights, const Label& label);
  void ReduceOverReplicas(std::int64_t elements, const Label& label);
  int BucketsOf(const std::vector<int>& weights) const;
  bool AllReducesBucket() const;
  bool HasTwoHops() const;
  bool QuantizedTogether(int weight) const;
  void CopyToHost(const Label& label);
  void WaitForOldReductions(const Label& label);

  const Scenario* scenario_;
  const ModelLayout* layout_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
  HostCopies copies_;
  std::vector<int> bucket_;
  std::int64_t bucket_elements_ = 0;
  bool boundary_ = true;
  struct Reduction {
    OpId op;
    Bytes gradients;  // full-size gradients that live until `op` is done
  };
  std::deque<Reduction> unfinished_;
};

}  // namespace zerosim
