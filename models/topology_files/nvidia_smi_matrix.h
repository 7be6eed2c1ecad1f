// The matrix that `nvidia-smi topo -m` prints, as it is pasted: behind a prompt or in a fence, with
// colors, tabs or blanks, bars of a Markdown table, and rows that a terminal has wrapped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/document.h"
#include "models/topology_files/pcie_tree.h"

namespace zerosim {

struct SmiCell {
  PciePath path = PciePath::kUnknown;  // of NV# and of X
  int nvlinks = 0;                     // of NV#
};

struct SmiDevice {
  std::string name;  // "GPU0", "NIC3", "mlx5_0"
  bool is_gpu = false;
  std::string legend;    // what the NIC legend calls it, if it has one
  std::string affinity;  // of a GPU, its CPUs; empty if there is none
};

struct SmiMatrix {
  std::vector<SmiDevice> devices;           // in the order of the columns
  std::vector<std::vector<SmiCell>> cells;  // symmetric
};

// Reads the first matrix of `text`, reported at `file`. Returns nothing after reporting why.
std::optional<SmiMatrix> ReadSmiMatrix(const std::string& text, const std::string& file,
                                       Problems* problems);

}  // namespace zerosim
