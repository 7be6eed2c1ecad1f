// Line charts as SVG, drawn by gnuplot (Debian: gnuplot-nox) in a child process.
//
// Every picture of the command line is a Chart; no other file knows of gnuplot. The same chart
// gives the same bytes with the same version of gnuplot, whatever the user's settings of it and the
// locale.
#pragma once

#include <string>
#include <vector>

namespace zerosim {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartSeries {
  std::string label;
  std::vector<ChartPoint> points;  // ascending in x; above 0 on a logarithmic axis
  bool measured = false;           // drawn as dots, as a single point is; otherwise as a line
};

struct ChartTick {
  std::string label;
  double x = 0;
};

struct Chart {
  std::string title;
  std::string x_label;  // with its unit
  std::string y_label;  // with its unit; the axis begins at 0
  bool log_x = false;
  std::vector<ChartTick> x_ticks;   // empty: where gnuplot puts them
  std::vector<ChartSeries> series;  // at least one with points
};

// The script that gnuplot gets. Text of labels stands as it is: nothing in it is a command or
// markup to gnuplot, and line breaks and other control characters are spaces.
std::string ChartScript(const Chart& chart);

// The picture. Throws EnvironmentError (output_file.h) if gnuplot is missing or fails, with what to
// do about it.
std::string DrawSvg(const Chart& chart);

}  // namespace zerosim
