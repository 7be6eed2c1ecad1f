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
// Overlap inside of a layer, of the n ranks of a group:
//   tensor_overlap: async   a product and the all-gather of its input, or the reduce-scatter of its
//                           output, in n chunks (PyTorch's torch.distributed._symmetric_memory,
//                           fused_all_gather_matmul and fused_matmul_reduce_scatter);
//   context_method: ring    attention and the exchange of keys and values in n blocks (arXiv
//                           2310.01889, section 3.2); in backward their gradients go round as well.
// With h of computing and t of communication, a chunk takes h/n and each of the n-1 exchanges
// t/(n-1). The chunk at hand needs no exchange, so that together they take
//   h/n + (n-1) max(h/n, t/(n-1)) = max(h, h/n + t):
// n-1 chunks run beside the collective, and one after it (before it, where the output is reduced).
// The program says exactly that, so bytes, contention with other collectives and collective_share
// are as they are without overlap.
//
// Not modelled: experts that get more tokens than others, limits of the nodes that a token may go
// to (DeepSeek-V3), overlap of experts' all-to-alls; that products of a chunk are less efficient
// than whole ones, and copy engines that take nothing from the GPU; memory of gathered keys and
// values; work that the causal mask leaves uneven between blocks of a ring; the second gather of a
// product's input for its weights' gradient under sequence parallelism, which frameworks hide.
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

  // Before and after the kernels of a visit: what they wait for, and what waits for them.
  void Before(const Visit& visit, const Label& label);
  void After(const Visit& visit, const Label& label);

  // Whether they leave nodes in which there are ranks of several stages: what other stages send
  // meanwhile then delays them.
  bool MeetOtherStages() const;

  // Writes the kernels of a visit, of `product` and other times, and the collectives that run
  // beside them, if any do.
  void Kernels(const Visit& visit, const Label& label, Seconds product, Seconds other);

 private:
  // Whether the part's matrix products run beside its collective over the tensor-parallel ranks.
  bool IsAsync(Part part) const;
  bool IsRing(Part part) const;
  // Whether the part takes the whole sequence and hidden width in, or gives its sum out.
  bool Enters(Part part) const;
  bool Leaves(Part part) const;
  void Sum(const Label& label);       // of hidden values over the tensor-parallel ranks
  void Gather(const Label& label);    // of the sequence over them
  void Exchange(const Label& label);  // of tokens between the ranks that divide the experts
  // Launches a collective; Run makes compute wait for it too.
  OpId Launch(const char* name, CollectiveOp op, Communicator communicator, Bytes full,
              int launches, const Label& label);
  void Run(const char* name, CollectiveOp op, Communicator communicator, Bytes full, int launches,
           const Label& label);
  void KernelsBesideGather(int ranks, OpId gather, const Label& label, Seconds product,
                           Seconds other);
  Bytes HiddenBytes() const;
  Bytes KeysAndValuesBytes() const;

  const Scenario* view_;
  CollectiveKinds kinds_;
  ProgramWriter* writer_;
  bool recomputing_ = false;  // the last visit was of a block's recomputation
};

}  // namespace zerosim
