#include "tools/zerosim/chart.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "tools/zerosim/output_file.h"

namespace zerosim {
namespace {

Chart Example() {
  return {.title = "all_reduce",
          .x_label = "size, bytes",
          .y_label = "busbw, GB/s",
          .log_x = true,
          .x_ticks = {{"1K", 1024}, {"1M", 1048576}},
          .series = {{"NCCL 2.30.7", {{1024, 0.5}, {1048576, 123.456789}}, false},
                     {"measured", {{1024, 0.25}}, true},
                     {"one size", {{2048, 1}}, false}}};
}

TEST(ChartScript, IsWhatGnuplotGets) {
  EXPECT_EQ(ChartScript(Example()),
            "set terminal svg size 900,560 noenhanced font 'sans,14' background '#ffffff'\n"
            "set encoding utf8\n"
            "set colorsequence podo\n"
            "set border 3\n"
            "set tics nomirror\n"
            "set grid linecolor '#dddddd'\n"
            "set key below left Left reverse maxcols 1\n"
            "set yrange [0:*]\n"
            "set title 'all_reduce'\n"
            "set xlabel 'size, bytes'\n"
            "set ylabel 'busbw, GB/s'\n"
            "set logscale x\n"
            "set xtics ('1K' 1024, '1M' 1048576)\n"
            "$series0 << END\n"
            "1024 0.5\n"
            "1048576 123.456789\n"
            "END\n"
            "$series1 << END\n"
            "1024 0.25\n"
            "END\n"
            "$series2 << END\n"
            "2048 1\n"
            "END\n"
            "plot $series0 using 1:2 with lines linewidth 2 title 'NCCL 2.30.7', \\\n"
            "  $series1 using 1:2 with points pointtype 7 pointsize 0.5 title 'measured', \\\n"
            "  $series2 using 1:2 with points pointtype 7 pointsize 0.5 title 'one size'\n");
}

TEST(ChartScript, LeavesAxesToGnuplotThatTheChartDoesNotSet) {
  Chart chart = Example();
  chart.log_x = false;
  chart.x_ticks.clear();
  const std::string script = ChartScript(chart);
  EXPECT_EQ(script.find("logscale"), std::string::npos);
  EXPECT_EQ(script.find("xtics"), std::string::npos);
}

// All text of the picture, an element a line.
std::string TextsOf(const std::string& svg) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_string(svg.c_str());
  EXPECT_TRUE(parsed) << parsed.description();
  std::string texts;
  for (const pugi::xpath_node& node : document.select_nodes("//text")) {
    texts += std::string(node.node().text().get()) + "\n";
  }
  return texts;
}

TEST(DrawSvg, IsXmlWithTheLabels) {
  const std::string texts = TextsOf(DrawSvg(Example()));
  for (const char* const label : {"all_reduce", "size, bytes", "busbw, GB/s", "NCCL 2.30.7",
                                  "measured", "one size", "1K", "1M"}) {
    EXPECT_THAT(texts, testing::HasSubstr(label));
  }
}

TEST(DrawSvg, GivesTheSameBytesAgain) {
  EXPECT_EQ(DrawSvg(Example()), DrawSvg(Example()));
}

TEST(DrawSvg, TakesLabelsAsTheyStand) {
  Chart chart = Example();
  const std::string label = R"(<a> & "b" 'c' `touch x` $d @e {/*2 f} g_h^i \n %j # k)";
  chart.title = label;
  chart.x_label = label;
  chart.x_ticks = {{"50 % <a>", 1024}};
  chart.series[0].label = label;
  chart.series[1].label = "two\nlines\tor\x01not";
  const std::string texts = TextsOf(DrawSvg(chart));
  std::size_t found = 0;
  for (std::size_t at = 0; (at = texts.find(label, at)) != std::string::npos; ++at) ++found;
  EXPECT_EQ(found, 3U) << texts;
  EXPECT_THAT(texts, testing::HasSubstr("50 % <a>"));
  EXPECT_THAT(texts, testing::HasSubstr("two lines or not"));
}

TEST(DrawSvg, SaysWhatToDoWithoutGnuplot) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  try {
    DrawSvg(Example());
    ADD_FAILURE() << "no exception";
  } catch (const EnvironmentError& e) {
    EXPECT_STREQ(e.what(),
                 "gnuplot, which draws the picture, is not installed; install it (Debian: apt-get "
                 "install gnuplot-nox) or leave out the picture");
  }
  setenv("PATH", path.c_str(), 1);
}

TEST(DrawSvg, PassesOnWhatGnuplotComplainsOf) {
  Chart chart = Example();
  chart.series = {{"nothing", {{-1, 0}}, false}};
  try {
    DrawSvg(chart);
    ADD_FAILURE() << "no exception";
  } catch (const EnvironmentError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("gnuplot failed (status "));
    EXPECT_THAT(e.what(), testing::HasSubstr("x range is invalid"));
  }
}

}  // namespace
}  // namespace zerosim
