#!/usr/bin/env python3
"""Runs clang-tidy on the product's sources, several at once, and only on those that changed.

Tests are left out: reading GoogleTest with clang-tidy takes longer than all of the product.

A source that was clean is not looked at again while it, the headers of this repository that it
includes (as the build recorded them) and .clang-tidy stay the same.

    clang_tidy.py BUILD [-j JOBS]
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys

CLANG_TIDY = "clang-tidy-14"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def recorded_headers(build):
  """Returns, for each object file of `build`, the files that its compilation read."""
  out = subprocess.run(["ninja", "-C", build, "-t", "deps"],
                       capture_output=True, text=True, check=True).stdout
  headers, target = {}, None
  for line in out.splitlines():
    if line.startswith("    "):
      headers[target].append(line.strip())
    elif line:
      target = line.split(":")[0]
      headers[target] = []
  return headers


def sources(build):
  """Yields (source, object file) of this repository's own sources, generated ones left out."""
  seen = set()
  for entry in json.loads((build / "compile_commands.json").read_text()):
    source = pathlib.Path(entry["file"])
    if ROOT / "tests" in source.parents:
      continue
    if ROOT in source.parents and build.resolve() not in source.parents and source not in seen:
      seen.add(source)
      yield source, entry.get("output", "")


def fingerprint(source, headers):
  digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
  for path in sorted({source, *map(pathlib.Path, headers)}):
    path = path if path.is_absolute() else ROOT / path
    if ROOT in path.parents and path.exists():
      digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
  return digest.hexdigest()


def check(build, source, headers):
  """Returns clang-tidy's complaints about `source`, or "" if it has none."""
  stamp = build / "clang-tidy" / (source.relative_to(ROOT).as_posix().replace("/", "-") + ".ok")
  wanted = fingerprint(source, headers)
  if stamp.exists() and stamp.read_text() == wanted:
    return ""
  # Flags of its own: clang reads neither GCC's precompiled headers nor all of its warnings' names.
  done = subprocess.run([CLANG_TIDY, "--quiet", source, "--", "-std=c++20", f"-I{ROOT}",
                         '-DZEROSIM_CATALOG=""', '-DZEROSIM_SOURCE_DIR=""'],
                        capture_output=True, text=True, check=False)
  if done.returncode != 0:
    return done.stdout + done.stderr
  stamp.write_text(wanted)
  return ""


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("build", type=pathlib.Path)
  parser.add_argument("-j", "--jobs", type=int, default=1)
  args = parser.parse_args()

  build = args.build.resolve()
  (build / "clang-tidy").mkdir(exist_ok=True)
  headers = recorded_headers(build)
  failed = 0
  with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    checks = [pool.submit(check, build, source, headers.get(object_file, []))
              for source, object_file in sources(build)]
    for done in concurrent.futures.as_completed(checks):
      if done.result():
        print(done.result(), flush=True)
        failed += 1
  print(f"clang-tidy: {len(checks) - failed} files clean, {failed} not")
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
