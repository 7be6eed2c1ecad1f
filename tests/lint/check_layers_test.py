"""Tests of tools/lint/check_layers.py: trees with one fault each, and the whole complaint."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/lint"))
import check_layers


def complaints(files):
  """Returns the problems of a tree that holds `files`, a map from path to text."""
  with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    for path, text in files.items():
      (root / path).parent.mkdir(parents=True, exist_ok=True)
      (root / path).write_text(text)
    return list(check_layers.problems(root))


class CheckLayers(unittest.TestCase):

  def test_accepts_includes_that_point_down(self):
    self.assertEqual(complaints({
        "tools/zerosim/a.cc": '#include <CLI/CLI.hpp>\n#include "sim/b.h"\n',
        "sim/b.h": '#include <simgrid/s4u.hpp>\n#include "models/core/units.h"\n',
        "models/scenario/c.cc": '#include <yaml-cpp/yaml.h>\n',
        "models/program/d.h": '#include "models/scenario/scenario.h"\n',
        "tests/sim/e_test.cc": '#include <gtest/gtest.h>\n#include "sim/b.h"\n',
    }), [])

  def test_refuses_an_include_that_points_up(self):
    self.assertEqual(complaints({"models/a.cc": '// c\n#include "sim/b.h"\n'}),
                     ["models/a.cc:2: error: models/ may not include sim/b.h"])

  def test_refuses_neighbors_that_meet_in_files(self):
    self.assertEqual(complaints({"sim/a.h": '#include "validate/b.h"\n'}),
                     ["sim/a.h:1: error: sim/ may not include validate/b.h"])

  def test_refuses_a_library_outside_its_folder(self):
    self.assertEqual(complaints({
        "models/core/a.cc": "#include <yaml-cpp/yaml.h>\n",
        "sim/b.cc": "#  include <CLI/CLI.hpp>\n",
    }), ["models/core/a.cc:1: error: only models/scenario/ may include yaml-cpp/yaml.h",
         "sim/b.cc:1: error: only tools/zerosim/ may include CLI/CLI.hpp"])

  def test_refuses_reading_of_files_in_the_models(self):
    self.assertEqual(
        complaints({"models/zero/a.cc": '#include "models/scenario/read_scenario.h"\n'}),
        ["models/zero/a.cc:1: error: of models/scenario only models/scenario/scenario.h may be "
         "included in models/, not models/scenario/read_scenario.h"])

  def test_refuses_a_relative_include(self):
    self.assertEqual(complaints({"sim/a.cc": '#include "../models/b.h"\n'}),
                     ["sim/a.cc:1: error: include by path from the root, not ../models/b.h"])


if __name__ == "__main__":
  unittest.main()
