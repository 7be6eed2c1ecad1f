// The devices of a NCCL topology file, as its tree of PCI devices has them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/scenario/document.h"
#include "models/topology_files/nccl_gpu_links.h"
#include "models/topology_files/node_draft.h"
#include "models/topology_files/xml_document.h"

namespace zerosim {

struct NcclCpu {
  std::size_t device = 0;
  const XmlElement* element = nullptr;
};

struct NcclNet {
  std::size_t device = 0;
  const XmlElement* element = nullptr;
  std::string name;
  int megabits = 0;  // 0: not in the file
};

struct NcclDevices {
  NodeDraft draft;  // all of them and the PCIe links between them
  std::vector<NcclCpu> cpus;
  std::vector<NcclGpu> gpus;
  std::vector<NcclNet> nets;
  const XmlElement* unknown = nullptr;  // a device that could be anything
  bool unknown_pcie = false;            // some links have no speed or width
  double slowest_transfer = 0;          // GT/s; 0: no device
};

// Of the root <system>, which must outlive the result. Reports what cannot be read.
NcclDevices ReadNcclDevices(const XmlElement& system, Problems* problems);

// What the file calls a <pci>.
std::string BusOf(const XmlElement& pci);

}  // namespace zerosim
