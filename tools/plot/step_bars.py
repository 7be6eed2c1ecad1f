#!/usr/bin/env python3
"""Draws where the time of training steps goes, from results of `zerosim run --json`.

  tools/plot/step_bars.py OUT.svg RESULT.json...

One bar a result: the critical path by cause, which adds up to the step time, with the interval of
the prediction. Needs python3-matplotlib.
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Causes in the order of the bars' segments; anything else is "other".
CAUSES = [
    ("compute", "#4c72b0"),
    ("transfer on nic", "#dd8452"),
    ("transfer on fabric", "#e8b08a"),
    ("transfer on gpu link", "#ccb974"),
    ("latency between nodes", "#c44e52"),
    ("latency in the node", "#e7a3a5"),
    ("launch of collectives", "#937860"),
    ("quantization and copies", "#8172b3"),
    ("host", "#8c8c8c"),
]


def segments(result):
  times = {part["cause"]: part["time_s"] for part in result["critical_path"]}
  known = [(cause, color, times.pop(cause, 0.0)) for cause, color in CAUSES]
  return known + [("other", "#dddddd", sum(times.values()))]


def draw(results, names, out):
  plt.rcParams["svg.hashsalt"] = "zerosim"  # the same input gives the same bytes
  figure, axes = plt.subplots(figsize=(8, 1.2 + 0.6 * len(results)))
  for row, result in enumerate(results):
    left = 0.0
    for cause, color, time in segments(result):
      if time > 0:
        axes.barh(row, time, left=left, color=color, label=cause, edgecolor="white")
        left += time
    low, high = result["step_time_interval_s"]
    axes.errorbar(left, row, xerr=[[left - low], [high - left]], color="black", capsize=3)
    axes.text(high + 0.01 * left, row + 0.28, f"{left:.2f} s", fontsize=8)
  axes.set_yticks(range(len(results)), names, fontsize=8)
  axes.invert_yaxis()
  axes.set_xlabel("step time in seconds: what the step waits for, with the prediction's interval")
  handles = {}
  for handle, label in zip(*axes.get_legend_handles_labels()):
    handles.setdefault(label, handle)
  axes.legend(handles.values(), handles.keys(), fontsize=7, ncols=4, loc="upper center",
              bbox_to_anchor=(0.45, -0.25), frameon=False)
  for side in ("top", "right"):
    axes.spines[side].set_visible(False)
  figure.savefig(out, bbox_inches="tight", metadata={"Date": None})


def main(argv):
  if len(argv) < 3 or argv[1] in ("-h", "--help"):
    print(__doc__)
    return 2
  results = []
  for path in argv[2:]:
    with open(path, encoding="utf-8") as file:
      results.append(json.load(file))
  names = [result["zerosim"].get("scenario", path) for result, path in zip(results, argv[2:])]
  draw(results, names, argv[1])
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv))
