"""Runs the commands of a golden file and compares what they print with what the file says.

    golden.py ZEROSIM FILE

A golden file is a series of commands, each with its output:

    # A comment.
    $ zerosim explain qqz
    ! zerosim: explain: no term "qqz"; near are qgZ, qwZ
    [exit 2]

Lines of standard output stand as they are, those of standard error after "! "; the exit status is
left out if it is 0. Commands run in the root of the repository, without a shell. TMP in a command
is a folder that lives as long as the file's commands; in outputs TMP and VERSION stand for the
folder and for the version. `$ cat FILE` and `$ ls FOLDER` show what a command wrote.

With ZEROSIM_UPDATE_GOLDEN=1 in the environment the file is written anew instead.
"""

import difflib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def version_of(zerosim):
  return subprocess.run([zerosim, "--version"], capture_output=True, text=True,
                        check=True).stdout.strip()


def run(zerosim, version, folder, command):
  """Returns what a golden file says after `command`."""
  words = [word.replace("TMP", folder) for word in shlex.split(command)]
  if words[0] == "zerosim":
    words[0] = zerosim
  elif words[0] not in ("cat", "ls"):
    raise ValueError(f"a golden file runs zerosim, cat and ls, not {words[0]}")
  # Columns and colors must not depend on who runs the tests.
  environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "dumb"}
  for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
      environment[name] = os.environ[name]
  done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True,
                        timeout=100, check=False)
  out = done.stdout
  if out and not out.endswith("\n"):
    out += "\n[no end of line]\n"
  out += "".join(f"! {line}\n" for line in done.stderr.splitlines())
  if done.returncode != 0:
    out += f"[exit {done.returncode}]\n"
  return out.replace(version, "VERSION").replace(folder, "TMP")


def rerun(zerosim, text):
  """Returns the golden file `text` with the outputs that its commands have now."""
  version = version_of(zerosim)
  result, in_output, previous = "", False, ""
  with tempfile.TemporaryDirectory() as folder:
    for line in text.splitlines():
      if line.startswith("$ "):
        result += ("\n" if in_output else "") + line + "\n" + run(zerosim, version, folder, line[2:])
        in_output = True
      elif line.startswith("# ") and (not in_output or not previous):
        # A comment after an empty line belongs to the command after it.
        result += ("\n" if in_output else "") + line + "\n"
        in_output = False
      previous = line
  return result


def main():
  zerosim, file = sys.argv[1], pathlib.Path(sys.argv[2])
  expected = file.read_text(encoding="utf-8")
  actual = rerun(zerosim, expected)
  if os.environ.get("ZEROSIM_UPDATE_GOLDEN") == "1":
    file.write_text(actual, encoding="utf-8")
    return 0
  sys.stdout.writelines(difflib.unified_diff(
      expected.splitlines(True), actual.splitlines(True), str(file), "now"))
  return 0 if actual == expected else 1


if __name__ == "__main__":
  sys.exit(main())
