// From a scenario's file to one tree: includes, entries of the catalog, overrides.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/document.h"
#include "models/scenario/files.h"

namespace zerosim {

// `--set path=value` of the command line: "cluster.nodes" and "8192". The value is YAML.
struct Override {
  std::string path;
  std::string value;
};

// Folders that hold hardware/{gpus,nodes,calibrations}/, models/ and frameworks/, searched in order
// after the scenario's own folder and the folders above it.
struct Catalog {
  std::vector<std::string> folders;
};

// A kind of file in the catalog.
struct Shelf {
  std::string_view path;    // of the key that names its files
  std::string_view folder;  // below a catalog's folder
  std::string_view what;
};
std::span<const Shelf> Shelves();

// Where the catalog keeps frameworks: what a scenario that names one does not say.
inline constexpr std::string_view kFrameworkFolder = "frameworks";

// Merges the scenario `text` of `file` with what it includes, then with `set`, puts the sections of
// its framework below its own, and the sections of the catalog in the places of their names. Every
// value keeps the place where it was written. Returns nothing if `text` cannot be read at all; what
// cannot be found or merged is reported, and stands in the tree as kUnresolved.
std::optional<Node> Assemble(const std::string& text, const std::string& file,
                             const std::vector<Override>& set, const Catalog& catalog,
                             const Files& files, Problems* problems);

}  // namespace zerosim
