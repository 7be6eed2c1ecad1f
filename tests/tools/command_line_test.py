"""Tests of what a golden file cannot show: pipes, devices, all of a kind.    command_line_test.py ZEROSIM"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from xml.etree import ElementTree

ZEROSIM = sys.argv.pop(1)
SVG = "{http://www.w3.org/2000/svg}"
SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "scenarios/zero3_dgx2_384.yaml"


def zerosim(*arguments, **options):
  """Returns exit status, standard output and standard error."""
  options.setdefault("stdout", subprocess.PIPE)
  done = subprocess.run([ZEROSIM, *arguments], stderr=subprocess.PIPE, text=True, timeout=20,
                        check=False, **options)
  return done.returncode, done.stdout, done.stderr


def run_redirected(redirection, *arguments):
  """The same by a shell, with `redirection` such as "2>&-" for it."""
  done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirection}', ZEROSIM, *arguments],
                        capture_output=True, text=True, timeout=20, check=False)
  return done.returncode, done.stdout, done.stderr


def key_paths(value, path=""):
  """Yields the paths of all keys in `value`, lists without an index."""
  if isinstance(value, list):
    for item in value:
      yield from key_paths(item, path)
  if isinstance(value, dict):
    for key, below in value.items():
      here = f"{path}.{key}" if path else key
      yield here
      yield from key_paths(below, here)


def choices_of(schema):
  """Yields every text that an "enum" of `schema` lists."""
  if isinstance(schema, list):
    for item in schema:
      yield from choices_of(item)
  if isinstance(schema, dict):
    yield from (choice for choice in schema.get("enum", []) if isinstance(choice, str))
    for below in schema.values():
      yield from choices_of(below)


# Scenarios that have every line of a report among them.
REPORTS = (
    [str(SCENARIO.parent / "zeropp_dgx2_384.yaml")],
    [str(SCENARIO), "--set", "zero.shard_size=node", "--set",
     "collectives.algorithm=hierarchical_ring"],
    [str(SCENARIO), "--set", "zero.stage=1", "--set", "cluster.fabric.nics_per_node=4"],
    [str(SCENARIO.parent / "zeropp_dgx2_384.yaml"), "--set", "zero.quantized_gradients.hops=1"],
    [str(SCENARIO), "--set", "parallelism.tensor=2", "--set", "parallelism.sequence=true", "--set",
     "parallelism.context=2"],
)


def labels_of(report):
  """Returns the labels of the lines of a report's sections, and of the columns of its tables."""
  labels, section = set(), ""
  for line in report.splitlines()[2:]:
    if not line.startswith("  "):
      section = line
    elif section != "Warnings" and not line.endswith("in GB/s"):
      words = re.split(r"  +", line.strip())
      labels.add("peak" if words[0].startswith("peak ") else words[0].rstrip(":"))
      if len(words) > 5 and words[0] in ("name", "time"):
        labels |= set(words)
  return labels


def names_in(result):
  """Returns what a result calls collectives, groups, algorithms, links and causes."""
  names = {part["cause"] for part in result["critical_path"]}
  names |= {part["link"] for part in result["bottlenecks"]}
  names |= {part["name"] for part in result["parameters_used"]}
  for part in result["communication"]["collectives"]:
    names |= {part[key] for key in ("name", "op", "group", "algorithm", "protocol", "bottleneck")}
  return names
PUBLISHED = """name: tiny
source: nobody
split: by hand
scenario: {framework: llm_foundry, model: llama2_7b, training.sequence_length: 512}
groups:
  - name: A100
    scenario: {cluster.node: dgx_a100_80gb}
    rows:
      - {id: one, at: here, split: calibration, scenario: {cluster.nodes: 1}, step_time: 1 s}
      - {id: two, at: there, split: test, scenario: {cluster.nodes: 1}, memory: 20 GiB}
skipped:
  - {id: three, reason: fp8}
"""


class Validation(unittest.TestCase):

  def validate(self, text, *options):
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder) / "published.yaml"
      path.write_text(text)
      status, out, err = zerosim("validate", str(path), *options)
      return status, out, err.replace(str(path), "published.yaml")

  def test_tells_measured_from_predicted_and_sums_up(self):
    status, out, err = self.validate(PUBLISHED, "--all")
    self.assertEqual((status, err), (0, ""))
    self.assertIn("tiny: 2 rows, 1 skipped\n", out)
    self.assertIn("  tiny three: skipped: fp8\n", out)
    self.assertRegex(out, r"tiny one +1\.00 s +[0-9.]+ m?s +[+-][0-9.]+ %\n")
    self.assertRegex(out, r"tiny two +21\.5 GB +[0-9.]+ GB +[+-][0-9.]+ %\n")
    self.assertRegex(out, r"tiny, calibration +1 ")

  def test_writes_rows_and_errors_as_json(self):
    status, out, err = self.validate(PUBLISHED, "--json", "-")
    self.assertEqual((status, err), (0, ""))
    result = json.loads(out)
    one, two = result["rows"]
    self.assertEqual((one["split"], one["gpu"]), ("calibration", "A100-SXM4-80GB"))
    step = one["step_time_s"]
    self.assertAlmostEqual(step["error"], step["predicted"] / step["measured"] - 1)
    self.assertNotIn("step_time_s", two)
    self.assertAlmostEqual(result["step_time_errors"]["all"]["mean"], abs(step["error"]))
    self.assertEqual(result["sources"][0]["skipped"], [{"id": "three", "reason": "fp8"}])

  def test_names_the_row_whose_scenario_is_refused(self):
    status, out, err = self.validate(PUBLISHED.replace("{cluster.nodes: 1}", "{cluster.node: 1}"))
    self.assertEqual((status, out), (2, ""))
    self.assertIn("published.yaml: row one:\n--set cluster.node=1: error: cluster.node: ", err)

  def test_ends_with_the_signal_and_leaves_no_file(self):
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder) / "published.yaml"
      rows = "".join(f"      - {{id: row{i}, at: here, split: test, scenario: {{cluster.nodes: 1, "
                     f"training.gradient_accumulation_steps: 64}}, step_time: 1 s}}\n"
                     for i in range(400))
      path.write_text(PUBLISHED.split("      - {id: one")[0] + rows)
      command = [ZEROSIM, "validate", str(path), "--json", str(path) + ".json"]
      with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.communicate(timeout=10)[0], b"")
        self.assertEqual(running.returncode, -signal.SIGINT)
      self.assertEqual(os.listdir(folder), ["published.yaml"])


CLUSTERS = """clusters:
- name: tiny
  about: one node
  gpu: H100
  fabric: none
  source: nobody
  assumed: nothing
  version: 2.29.2
  topology: {compute_capability: 90}
  runs:
  - {log: a.log, collective: all_reduce, nodes: 1, gpus: 4}
"""
LOG = """1024 256 float sum -1 30.0 0 0 0 20.0 0 0 0
268435456 67108864 float sum -1 1187.2 226 339 0 1182.8 227 340 0
h:1:1 [0] NCCL INFO AllReduce: 268435456 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}
h:1:1 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}
512 128 float sum -1h:1:1 [0] NCCL INFO this line is cut
"""


class Collective(unittest.TestCase):

  CLUSTER = "cluster: {nodes: 1, node: {base: dgx_h100, gpus: 4}}\n"

  def collective(self, log, *options):
    with tempfile.TemporaryDirectory() as folder:
      cluster = pathlib.Path(folder) / "cluster.yaml"
      cluster.write_text(self.CLUSTER)
      path = pathlib.Path(folder) / "log.txt"
      path.write_text(log)
      status, out, err = zerosim("collective", "--cluster", str(cluster), "--compare", str(path), *options)
      return status, out, err.replace(folder, "folder")

  def test_holds_a_log_against_the_prediction(self):
    status, out, err = self.collective(LOG, "--op", "all_reduce")
    self.assertEqual((status, err), (0, ""))
    rows = [line for line in out.splitlines() if not line.startswith("#")]
    self.assertEqual(len(rows), 2)
    self.assertRegex(rows[0], r"^ +1024 +256 ")
    self.assertRegex(rows[0], r" 20\.00 +[-+][0-9.]+ % ")
    self.assertRegex(rows[1], r"^ +268435456 .* 1183 +-[0-9.]+ % +Ring +Simple +24 ")
    self.assertRegex(out, r"# error of the time over 2 rows: median [0-9.]+ %, ")

  def test_asks_for_the_collective_that_a_log_does_not_name(self):
    self.assertEqual(self.collective(LOG),
                     (2, "", "zerosim: folder/log.txt: does not say which collective; give --op\n"))

  def test_refuses_a_log_without_rows(self):
    self.assertEqual(self.collective("nothing\n", "--op", "all_reduce"),
                     (2, "", "zerosim: folder/log.txt: no rows of nccl-tests in it\n"))


  def test_draws_all_algorithms_and_the_log_on_one_picture(self):
    with tempfile.TemporaryDirectory() as folder:
      picture = pathlib.Path(folder) / "busbw.svg"
      arguments = ["--op", "all_reduce", "--algorithm", "nccl", "--algorithm", "ring", "--quiet",
                   "--plot", str(picture)]
      self.assertEqual(self.collective(LOG, *arguments), (0, "", ""))
      first = picture.read_bytes()
      texts = [text.text.strip() for text in ElementTree.fromstring(first).iter(SVG + "text")]
      for label in ("ring", "measured", "size, bytes", "busbw, GB/s"):
        self.assertIn(label, texts)
      self.assertTrue(any(text.startswith("NCCL 2.") for text in texts), texts)
      self.assertEqual(self.collective(LOG, *arguments), (0, "", ""))
      self.assertEqual(picture.read_bytes(), first)
      # Without gnuplot nothing is written, and what was there stays.
      environment = {"PATH": "/nonexistent"}
      done = subprocess.run(
          [ZEROSIM, "collective", "--cluster", str(SCENARIO), *arguments, "--json",
           str(pathlib.Path(folder) / "result.json")],
          env=environment, capture_output=True, text=True, check=False)
      self.assertEqual(done.returncode, 1)
      self.assertEqual(done.stderr,
                       "zerosim: gnuplot, which draws the picture, is not installed; install it "
                       "(Debian: apt-get install gnuplot-nox) or leave out the picture\n")
      self.assertEqual(os.listdir(folder), ["busbw.svg"])
      self.assertEqual(picture.read_bytes(), first)

  def test_has_nothing_to_draw_of_a_log_without_times(self):
    log = "1024 256 float sum -1 0 0 0 0 0 0 0 0\n"
    status, _, err = self.collective(log, "--op", "all_reduce", "--plot", "-")
    self.assertEqual((status, err), (2, "zerosim: --plot: there is no row to draw\n"))


class NcclValidation(unittest.TestCase):

  def validate(self, clusters, logs, *options):
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder) / "clusters.yaml"
      path.write_text(clusters)
      for name, text in logs.items():
        (pathlib.Path(folder) / name).write_text(text)
      status, out, err = zerosim("validate-nccl", str(path), "--logs", folder, *options)
      return status, out, err.replace(folder, "folder")

  def test_sums_up_by_cluster_and_shows_choices_that_differ(self):
    status, out, err = self.validate(CLUSTERS, {"a.log": LOG}, "--all")
    self.assertEqual((status, err), (0, ""))
    self.assertRegex(out, r"  tiny, 1 node +2 +[0-9.]+ % +[0-9.]+ % ")
    self.assertRegex(out, r"  one node, H100 +2 ")
    self.assertIn("1 of 2 logged choices of algorithm, protocol and channels\n"
                  "  a.log:4: all_reduce of 1024 bytes logged Tree LL on 2, chosen Ring LL on 1\n", out)
    self.assertRegex(out, r"a\.log +268435456 Ring Simple +24 +1\.18 ms +1\.16 ms +-2\.. %\n")
    self.assertTrue(out.endswith("cut short and that are left out: 1\n"))

  def test_names_a_log_that_is_missing(self):
    self.assertEqual(self.validate(CLUSTERS, {}),
                     (2, "", "zerosim: folder/a.log: no such file\n"))


class Scenario(unittest.TestCase):

  def assert_accepted(self, result):
    self.assertEqual((result[0], result[2]), (0, ""))
    self.assertIn("ok\n  ranks       384: 24 nodes of 16 GPUs\n", result[1])

  def test_may_come_by_standard_input(self):
    with SCENARIO.open() as file:
      self.assert_accepted(zerosim("check", "/dev/stdin", stdin=file))
    self.assert_accepted(zerosim("check", "/dev/stdin", input=SCENARIO.read_text()))

  def test_may_come_by_a_pipe_as_of_process_substitution(self):
    read, write = os.pipe()
    os.write(write, SCENARIO.read_bytes())
    os.close(write)
    self.assert_accepted(zerosim("check", f"/dev/fd/{read}", pass_fds=[read]))
    os.close(read)

  def test_may_come_late_and_slowly_by_a_named_pipe(self):
    with tempfile.TemporaryDirectory() as folder:
      pipe = os.path.join(folder, "pipe")
      os.mkfifo(pipe)

      def write():
        time.sleep(0.3)
        with open(pipe, "wb", buffering=0) as file:
          text = SCENARIO.read_bytes()
          time.sleep(1.3)  # longer than a pipe may be without a writer
          file.write(text[:100])
          time.sleep(0.1)
          file.write(text[100:])

      writer = threading.Thread(target=write)
      writer.start()
      self.assert_accepted(zerosim("check", pipe))
      writer.join()

  def test_is_not_waited_for_where_nobody_writes(self):
    with tempfile.TemporaryDirectory() as folder:
      pipe = os.path.join(folder, "pipe")
      os.mkfifo(pipe)
      self.assertEqual(zerosim("run", pipe),
                       (2, "", f"{pipe}: error: is a pipe that nothing was written to within 1 s; "
                        "start its writer first\n"))

  def test_is_no_device(self):
    self.assertEqual(zerosim("run", "/dev/zero"),
                     (2, "", "/dev/zero: error: is neither a file nor a pipe\n"))


class Explain(unittest.TestCase):

  def test_knows_every_key_that_a_run_writes(self):
    status, out, _ = zerosim("run", str(SCENARIO), "--quiet", "--json", "-")
    self.assertEqual(status, 0)
    paths = set(key_paths(json.loads(out)))
    self.assertGreater(len(paths), 80)
    for path in sorted(paths):
      with self.subTest(path):
        status, out, _ = zerosim("explain", path)
        self.assertEqual(status, 0)
        self.assertIn(f"{path}, key of a result", out)

  def test_knows_every_label_of_a_report_and_every_name_in_a_result(self):
    names = set()
    for scenario in REPORTS:
      status, out, _ = zerosim("run", *scenario)
      self.assertEqual(status, 0)
      names |= labels_of(out)
      status, out, _ = zerosim("run", *scenario, "--quiet", "--json", "-")
      names |= names_in(json.loads(out))
    self.assertTrue({"forward", "busy, which overlaps", "out of one node", "model size M",
                     "limited by", "gpu compute", "pairwise", "across_nodes", "tensor",
                     "keys_values"} <= names, names)
    for name in sorted(names):
      with self.subTest(name):
        self.assertEqual(zerosim("explain", name)[0], 0)

  def test_knows_every_value_that_a_key_chooses_from(self):
    schema = json.loads((SCENARIO.parent / "scenario.schema.json").read_text())
    choices = set(choices_of(schema))
    self.assertTrue({"pcie", "switch", "selective", "hierarchical_ring"} <= choices, choices)
    for choice in sorted(choices):
      with self.subTest(choice):
        status, out, _ = zerosim("explain", choice)
        self.assertEqual(status, 0)
        self.assertIn(f"{choice}, value of ", out)


class Output(unittest.TestCase):

  def test_that_does_not_arrive_is_a_fault_of_the_environment(self):
    for arguments in (["--help"], ["--version"], ["run", "--help"], ["explain"], ["explain", "qgZ"],
                      ["check", str(SCENARIO)], ["run", str(SCENARIO), "--dump", "program"]):
      with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
        self.assertEqual(zerosim(*arguments, stdout=full),
                         (1, None, "zerosim: standard output: cannot write: No space left on "
                          "device\n"))

  def test_of_errors_that_does_not_arrive_leaves_the_status(self):
    for arguments, status in ((["run", "none.yaml"], 2), (["check", "none.yaml"], 2),
                              (["--none"], 2), (["explain", "qqqqqqqqqqqq"], 2),
                              (["run", str(SCENARIO), "--quiet", "--json", "/dev/full"], 1),
                              (["run", str(SCENARIO), "--timing"], 0)):
      for redirection in ("2>/dev/full", "2>&-"):
        with self.subTest(arguments, redirection=redirection):
          self.assertEqual(run_redirected(redirection, *arguments)[0], status)

  def test_may_be_closed(self):
    for redirection in (">&-", ">&- 2>&-", "<&- >&- 2>&-"):
      with self.subTest(redirection):
        self.assertEqual(run_redirected(redirection, "run", str(SCENARIO))[0], 1)
    self.assertEqual(run_redirected(">&-", "run", str(SCENARIO))[2],
                     "zerosim: standard output: cannot write: Bad file descriptor\n")

  def test_that_is_closed_is_no_file_of_results(self):
    with tempfile.TemporaryDirectory() as folder:
      result = os.path.join(folder, "result.json")
      self.assertEqual(run_redirected(">&-", "run", str(SCENARIO), "--json", result)[0], 1)
      with open(result, encoding="utf-8") as file:
        json.load(file)


if __name__ == "__main__":
  unittest.main()
