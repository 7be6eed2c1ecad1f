#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/core/units_text.h"
#include "sim/fit.h"
#include "sim/report_parts.h"

namespace zerosim {
void AddWarnings(const Scenario& scenario, StepReport* report) {
  const MemoryReport& memory = report->memory;
  if (!memory.fits) {
    std::string warning = fmt::format("does not fit: needs {:.1f} GB a GPU of {:.1f} GB; ",
                                      memory.peak.gigabytes(), memory.capacity.gigabytes());
    if (const auto change = SmallestFittingChange(scenario)) {
      warning +=
          fmt::format("--set {} would need {:.1f} GB", change->setting, change->peak.gigabytes());
    } else {
      warning += "none of the changes tried makes it fit";
    }
    report->warnings.push_back(std::move(warning));
  }
  if (!memory.host_fits) {
    report->warnings.push_back(
        fmt::format("does not fit: offload needs {:.1f} GB of the {:.1f} GB of a node's memory "
                    "(cluster.node.host_memory); more nodes, or less offload, would need less",
                    memory.host_per_node.gigabytes(), memory.host_capacity.gigabytes()));
  }
  const double peak = scenario.cluster.node.gpu.peak.teraflops_per_second();
  if (report->hardware_tflops_per_gpu > peak) {
    report->warnings.push_back(fmt::format(
        "beyond the hardware: {:.0f} TFLOP/s a GPU with recomputation, of a peak of {:.0f}; "
        "compute.mfu counts model FLOP only",
        report->hardware_tflops_per_gpu, peak));
  }
  const Calibration& calibration = scenario.cluster.calibration;
  // Within the range of what the NIC achieves the slot may bind or not.
  if (scenario.cluster.nodes > 1 && PcieFraction(scenario.cluster) < calibration.nic_fraction.low) {
    report->warnings.push_back(fmt::format(
        "the NIC's {:.4g} Gbps is capped by pcie_bandwidth {}; more NIC bandwidth has no effect",
        8 * scenario.cluster.fabric.nic_bandwidth.gigabytes_per_second(),
        FormatRate(scenario.cluster.node.pcie_bandwidth)));
  }
  const int nics = scenario.cluster.fabric.nics_per_node;
  if (calibration.measured_nics_per_node > 0 && nics > calibration.measured_nics_per_node) {
    report->warnings.push_back(fmt::format(
        "extrapolates: calibration {} saw {} NIC{} a node, not {}; the interval reaches down to no "
        "gain from the others",
        calibration.name, calibration.measured_nics_per_node,
        calibration.measured_nics_per_node == 1 ? "" : "s", nics));
  }
}

}  // namespace zerosim
