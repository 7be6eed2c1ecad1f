// The collectives that dividing a model over ranks puts between its parts. They wait for compute
// and compute waits for them.
//
// Tensor parallelism (Megatron-LM, arXiv 1909.08053): outputs of attention, of the MLP and of the
// embedding are summed over the ranks in forward, gradients of their inputs in backward; the loss
// over a divided vocabulary sums three values a token. With sequence parallelism (arXiv 2205.05198,
// section 4.2.2) each sum is a reduce-scatter, and an all-gather stands where the sequence is
// needed again. A block whose attention and MLP are parallel sums both at once.
//
// Context parallelism as in Llama 3 (arXiv 2407.21783, section 3.3.2): keys and values are gathered
// before attention, in backward again, and their gradients reduce-scattered. The causal mask's work
// is balanced over the ranks.
//
// Partitioned checkpoints (DeepSpeed, runtime/activation_checkpointing/checkpointing.py): a block's
// input is gathered over the tensor-parallel ranks before the block is recomputed.
//
// Expert parallelism: tokens go to the ranks of their experts by an all-to-all before the experts'
// products and come back by another after them; the same in backward (arXiv 2006.16668, section 3).
//
// Partitioned checkpoints (DeepSpeed, runtime/activation_checkpointing/checkpointing.py): a block's
// input is gathered over the tensor-parallel ranks before the block is recomputed.
//
// Not modelled: experts that get more tokens than others, limits of the nodes that a token may go
// to (DeepSeek-V3), overlap of these collectives with the products beside them (asynchronous tensor
// parallelism, ring attention), the second gather of a product's input for its weights' gradient
// under sequence parallelism, which frameworks hide.
#pragma once

#include "models/program/collective_kinds.h"
#include "models/program/program_writer.h"
#include "models/program/trace.h"
#include "models/scenario/scenario.h"

namespace zerosim {

class ModelCollectives {
 public:
  // `view` is what one rank sees (rank_view.h). All arguments must outlive it.
  ModelCollectives(const Scenario& view, const CollectiveKinds& kinds, ProgramWriter* writer)
      : view_(&view), kinds_(kinds), writer_(writer) {}

  // Before and after the kernels of a visit.
  void Before(const Visit& visit, const Label& label);
  void After(const Visit& visit, const Label& label);

  // Whether they leave nodes in which there are ranks of several stages: what other stages send
  // meanwhile then delays them.
  bool MeetOtherStages() const;

 private:
  // Whether the part takes the whole sequence and hidden width in, or gives its sum out.
  bool Enters(Part part) const;
  bool Leaves(Part part) const;
  void Sum(const Label& label);       // of hidden values over the tensor-parallel ranks
  void Gather(const Label& label);    // of the sequence over them
  void Exchange(const Label& label);  // of tokens between the ranks that divide the experts
  void Run(const char* name, CollectiveOp op, Communicator communicator, Bytes full, int launches,
           const Label& label);
  Bytes HiddenBytes() const;
  Bytes KeysAndValuesBytes() const;

  const Scenario* view_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
  bool recomputing_ = false;  // the last visit was of a block's recomputation
};

}  // namespace zerosim
