#include "models/nccl/achieved.h"

#include <cmath>

namespace zerosim {

BytesPerSecond GpuLink(const NcclTopology& topology) {
  if (topology.nvlinks > 0) return topology.nvlink_of_gpu();
  return BytesPerSecond::GigabytesPerSecond(15.75 * std::exp2(topology.pcie_generation - 3));
}

NcclAchieved AchievedOn(const NcclTopology& topology) {
  NcclAchieved achieved;
  const int capability = topology.compute_capability;
  if (capability < 70) {
    achieved.gpu_link = 0.40;
  } else if (capability < 80) {
    achieved.gpu_link = 0.80;
  } else if (capability < 90) {
    achieved.gpu_link = 0.78;
  } else if (capability >= 120) {
    achieved.gpu_link = 0.85;
  } else if (capability >= 100) {
    achieved.gpu_link = 0.77;
  }
  return achieved;
}

}  // namespace zerosim
