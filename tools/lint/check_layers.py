#!/usr/bin/env python3
"""Fails if a file includes a header of a layer, or a library, that its folder may not use.

The include path is the root of the source tree, so the compiler would accept any of them.

    check_layers.py ROOT
"""

import pathlib
import re
import sys

# A layer and those it may include, besides itself. A folder that is not here holds no C++.
MAY_USE = {
    "models": [],
    "kernels": [],
    "sim": ["models"],
    "validate": ["models", "kernels"],
    "tools": ["models", "sim", "validate"],
    "tests": ["models", "kernels", "sim", "validate", "tools"],
}
# Headers of other projects, and the folders that alone may include them.
ONLY_IN = {
    "simgrid/": ["sim", "tests"],
    "xbt/": ["sim"],
    "yaml-cpp/": ["models/scenario"],
    "pugixml": ["models/topology_files", "tests"],
    "CLI/": ["tools/zerosim"],
    "nlohmann/": ["tools", "tests"],
    "openssl/": ["tools/zerosim"],
    "boost/": ["kernels/executor"],
    "Eigen/": ["models", "validate"],
    "nccl.h": ["validate"],
    "cuda": ["kernels", "validate"],
    "gtest/": ["tests"],
    "gmock/": ["tests"],
    "benchmark/": ["tests/benchmarks"],
}
# Folders of models/ that the rest of models/ may not use: reading files is not arithmetic.
# scenario.h is a plain value.
READERS = ["models/scenario", "models/frameworks", "models/topology_files"]
SCENARIO_VALUE = "models/scenario/scenario.h"

SUFFIXES = {".h", ".cc", ".cuh", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def within(path, folder):
  return path.startswith(folder + "/")


def problems_of_include(path, header):
  """Yields what is wrong with `path`, relative to the root, including `header`."""
  layer = path.split("/")[0]
  target = header.split("/")[0]
  if target in MAY_USE and target != layer and target not in MAY_USE[layer]:
    yield f"{layer}/ may not include {header}"
  if (layer == "models" and not any(within(path, r) for r in READERS) and
      any(within(header, r) for r in READERS) and header != SCENARIO_VALUE):
    yield f"of models/scenario only {SCENARIO_VALUE} may be included in models/, not {header}"
  for prefix, folders in ONLY_IN.items():
    if header.startswith(prefix) and not any(within(path, f) for f in folders):
      yield f"only {' and '.join(f + '/' for f in folders)} may include {header}"


def problems(root):
  """Yields "path:line: error: what" for each forbidden or relative include under `root`."""
  for layer in MAY_USE:
    for file in sorted((root / layer).rglob("*")):
      if file.suffix not in SUFFIXES:
        continue
      path = file.relative_to(root).as_posix()
      for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
          continue
        header = match.group(1)
        for what in problems_of_include(path, header):
          yield f"{path}:{number}: error: {what}"
        if header.startswith("."):
          yield f"{path}:{number}: error: include by path from the root, not {header}"


def main():
  root = pathlib.Path(sys.argv[1])
  found = list(problems(root))
  for line in found:
    print(line)
  return 1 if found else 0


if __name__ == "__main__":
  sys.exit(main())
