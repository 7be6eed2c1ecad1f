#!/usr/bin/env python3
"""Fails if what README.md shows is not what zerosim prints and draws.

  readme_test.py ZEROSIM SOURCE_DIR

With ZEROSIM_UPDATE_GOLDEN=1 in the environment the picture is drawn anew.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys


def shown(readme):
  """The lines of the README's sample, without its indentation."""
  lines = readme.split("    $ tools/run scenarios/zeropp_dgx2_384.yaml\n", 1)[1].splitlines()
  end = next(i for i, line in enumerate(lines) if line.startswith("## "))
  return "\n".join(line.removeprefix("    ") for line in lines[:end]).strip().splitlines()


def table_shown(readme):
  """The command of the README's table of a collective, and the table."""
  after = readme.split("    $ zerosim collective ", 1)[1].splitlines()
  end = after.index("")
  return after[0].split(), [line.removeprefix("    ") for line in after[1:end]]


def table_printed(zerosim, source, arguments):
  return subprocess.run([zerosim, "collective", *arguments], cwd=source, capture_output=True,
                        text=True, check=True).stdout.splitlines()


def picture_drawn(zerosim, source, readme):
  """What differs of the picture of a collective from what its command in the README draws now."""
  arguments = next(line.split()[2:] for line in readme.splitlines()
                   if line.startswith("    $ zerosim collective ") and " --plot " in line)
  picture = pathlib.Path(source) / arguments[-1]
  drawn = subprocess.run([zerosim, *arguments[:-1], "-"], cwd=source, capture_output=True,
                         text=True, check=True).stdout
  if os.environ.get("ZEROSIM_UPDATE_GOLDEN") == "1":
    picture.write_text(drawn, encoding="utf-8")
  return difflib.unified_diff(picture.read_text(encoding="utf-8").splitlines(), drawn.splitlines(),
                              arguments[-1], "zerosim collective --plot", lineterm="", n=0)


def printed(zerosim, source):
  out = subprocess.run([zerosim, "run", "scenarios/zeropp_dgx2_384.yaml"], cwd=source,
                       capture_output=True, text=True, check=True).stdout
  # The README names no commit.
  return re.sub(r"(zerosim [\d.]+) \([^)]*\)", r"\1", out).strip().splitlines()


def main(zerosim, source):
  want = printed(zerosim, source)
  readme = (pathlib.Path(source) / "README.md").read_text(encoding="utf-8")
  diff = list(difflib.unified_diff(shown(readme), want, "README.md", "zerosim run", lineterm=""))
  arguments, table = table_shown(readme)
  diff += difflib.unified_diff(table, table_printed(zerosim, source, arguments), "README.md",
                               "zerosim collective", lineterm="")
  diff += picture_drawn(zerosim, source, readme)
  print("\n".join(diff))
  return 1 if diff else 0


if __name__ == "__main__":
  sys.exit(main(*sys.argv[1:]))
