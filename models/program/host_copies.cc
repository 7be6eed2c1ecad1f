#include "models/program/host_copies.h"

namespace zerosim {

void HostCopies::ToHost(Stream stream, const char* name, const Label& label, Bytes bytes,
                        int copies, bool pinned) {
  Copy(stream, Communicator::kToHost, name, label, bytes, copies, pinned);
}

void HostCopies::ToGpu(Stream stream, const char* name, const Label& label, Bytes bytes, int copies,
                       bool pinned) {
  Copy(stream, Communicator::kFromHost, name, label, bytes, copies, pinned);
}

void HostCopies::Copy(Stream stream, Communicator engine, const char* name, Label label,
                      Bytes bytes, int copies, bool pinned) {
  if (bytes == Bytes()) return;
  const bool to_host = engine == Communicator::kToHost;
  label.action = to_host ? Action::kCopyToHost : Action::kCopyToGpu;
  const int kind = kinds_.Kind(name, to_host ? CollectiveOp::kCopyToHost : CollectiveOp::kCopyToGpu,
                               engine, writer_);
  writer_->HostWork(label,
                    Seconds::Count(copies * scenario_->cluster.calibration.host_launch.value));
  const OpId op = writer_->Collective(
      stream, engine, label,
      {.kind = kind, .full = bytes, .payload = bytes, .launches = copies, .pageable = !pinned},
      Seconds());
  writer_->StreamWaits(stream, op);
  // The driver returns from a copy of pageable memory when it is done.
  if (!pinned) writer_->HostWaits(label, op);
}

}  // namespace zerosim
