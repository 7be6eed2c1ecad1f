#include "models/program/two_hops.h"

#include <algorithm>

#include "models/compute/compute.h"
#include "models/program/kernel_bytes.h"
#include "models/quantization/quantization.h"

namespace zerosim {
void ReduceInTwoHops(std::int64_t elements, int tensors, std::int64_t scale_groups,
                     const GradientQuantization& formats, const ClusterSpec& cluster,
                     const Label& label, CollectiveKinds* kinds, ProgramWriter* writer) {
  const int world = kinds->groups().shard.size;
  const int local = kinds->groups().in_node.size;
  const int nodes = kinds->groups().across.size;
  const QuantizedSize first = QuantizedSizeOf(elements, formats.in_node, scale_groups);
  const Bytes payload = Bytes::Count(2 * elements);
  const auto kernel = [&](Action action, Bytes traffic) {
    writer->Kernel(Stream::kReduce, WithAction(label, action),
                   tensors * MemoryTime(traffic, cluster));
  };
  const auto all_to_all = [&](const char* name, Communicator communicator, Action action,
                              Bytes full, Bytes values) {
    const int kind = kinds->Kind(name, CollectiveOp::kAllToAll, communicator, writer);
    const OpId op = writer->Collective(Stream::kReduce, communicator, WithAction(label, action),
                                       {.kind = kind,
                                        .full = tensors * full,
                                        .payload = tensors * values,
                                        .launches = 2 * tensors},
                                       Seconds());
    writer->StreamWaits(Stream::kReduce, op);
  };

  writer->HostWork(label, Seconds::Count(8 * tensors * cluster.calibration.host_launch.value));
  // Input and output of the first all-to-all; those of the second are 1/L of it, the sum is 16 bit.
  const Bytes temporary =
      2 * first.total() + Bytes::Count(3 * CeilDiv(elements, local) + 2 * CeilDiv(elements, world));
  writer->Memory(MemoryTerm::kBuffers, temporary);
  kernel(Action::kQuantize, QuantizeTraffic(elements, formats.in_node.bits));
  if (!formats.two_hops) {
    all_to_all("gradients_all_to_all", Communicator::kShard, Action::kReduceAcross, first.total(),
               payload);
    kernel(Action::kAccumulate,
           AccumulateTraffic(CeilDiv(elements, world), world, formats.in_node.bits));
    writer->Memory(MemoryTerm::kBuffers, -1 * temporary);
    return;
  }
  all_to_all("gradients_in_node", Communicator::kNode, Action::kReduceInNode, first.total(),
             payload);
  const std::int64_t part = CeilDiv(elements, local);
  kernel(Action::kRequantize,
         RequantizeTraffic(part, local, formats.in_node.bits, formats.between_nodes.bits));
  const QuantizedSize second =
      QuantizedSizeOf(part, formats.between_nodes, std::max<std::int64_t>(1, scale_groups / local));
  all_to_all("gradients_across_nodes", Communicator::kAcrossNodes, Action::kReduceAcross,
             second.total(), Bytes::Count(2 * part));
  kernel(Action::kAccumulate,
         AccumulateTraffic(CeilDiv(part, nodes), nodes, formats.between_nodes.bits));
  writer->Memory(MemoryTerm::kBuffers, -1 * temporary);
}

}  // namespace zerosim
