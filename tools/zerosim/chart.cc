#include "tools/zerosim/chart.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <unistd.h>

#include <sys/wait.h>
#include "tools/zerosim/output_file.h"

namespace zerosim {
namespace {

constexpr int kNoProgram = 127;  // status of a child that could not be started

// In single quotes gnuplot reads all as it is, but for the quote, which is doubled.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += ' ';
    } else {
      quoted += c;
      if (c == '\'') quoted += c;
    }
  }
  return quoted + "'";
}

// The text of a tick is a format of its number.
std::string TickText(const std::string& text) {
  std::string format;
  for (const char c : text) format += c == '%' ? "%%" : std::string(1, c);
  return Quoted(format);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void Fail(const std::string& what, int error) {
  throw EnvironmentError(
      fmt::format("gnuplot: {}: {}", what, std::generic_category().message(error)));
}

// A file without a name: unlike pipes, the child never waits for us to empty it.
File TemporaryFile() {
  File file(std::tmpfile());
  if (file == nullptr) Fail("cannot make a temporary file", errno);
  return file;
}

std::string Contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, got);
  }
  return text;
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void Redirect(int stream, std::FILE* file) {
    posix_spawn_file_actions_adddup2(&actions_, fileno(file), stream);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Runs gnuplot on standard input; returns the status that waitpid gave.
int RunGnuplot(std::FILE* in, std::FILE* out, std::FILE* err) {
  FileActions actions;
  actions.Redirect(STDIN_FILENO, in);
  actions.Redirect(STDOUT_FILENO, out);
  actions.Redirect(STDERR_FILENO, err);
  // Without the user's settings.
  std::string program = "gnuplot";
  std::string settings = "--default-settings";
  char* const arguments[] = {program.data(), settings.data(), nullptr};
  const char* const folders = std::getenv("PATH");
  std::string path = fmt::format("PATH={}", folders == nullptr ? "/usr/bin:/bin" : folders);
  std::string locale = "LC_ALL=C.UTF-8";
  char* const environment[] = {path.data(), locale.data(), nullptr};
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, program.c_str(), actions.get(), nullptr, arguments, environment);
  if (error == ENOENT) return kNoProgram << 8;
  if (error != 0) Fail("cannot start it", error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) Fail("cannot wait for it", errno);
  }
  return status;
}

}  // namespace

std::string ChartScript(const Chart& chart) {
  std::string script =
      "set terminal svg size 900,560 noenhanced font 'sans,14' background '#ffffff'\n"
      "set encoding utf8\n"
      "set colorsequence podo\n"
      "set border 3\n"
      "set tics nomirror\n"
      "set grid linecolor '#dddddd'\n"
      "set key below left Left reverse maxcols 1\n"
      "set yrange [0:*]\n";
  script += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", Quoted(chart.title),
                        Quoted(chart.x_label), Quoted(chart.y_label));
  if (chart.log_x) script += "set logscale x\n";
  if (!chart.x_ticks.empty()) {
    std::vector<std::string> ticks;
    ticks.reserve(chart.x_ticks.size());
    for (const ChartTick& tick : chart.x_ticks) {
      ticks.push_back(fmt::format("{} {:.9g}", TickText(tick.label), tick.x));
    }
    script += fmt::format("set xtics ({})\n", fmt::join(ticks, ", "));
  }
  std::vector<std::string> plots;
  plots.reserve(chart.series.size());
  for (const ChartSeries& series : chart.series) {
    const std::string name = fmt::format("$series{}", plots.size());
    script += name + " << END\n";
    for (const ChartPoint& point : series.points) {
      script += fmt::format("{:.9g} {:.9g}\n", point.x, point.y);
    }
    script += "END\n";
    const bool dots = series.measured || series.points.size() == 1;
    plots.push_back(fmt::format("{} using 1:2 with {} title {}", name,
                                dots ? "points pointtype 7 pointsize 0.5" : "lines linewidth 2",
                                Quoted(series.label)));
  }
  script += fmt::format("plot {}\n", fmt::join(plots, ", \\\n  "));
  return script;
}

std::string DrawSvg(const Chart& chart) {
  const File in = TemporaryFile();
  const File out = TemporaryFile();
  const File err = TemporaryFile();
  const std::string script = ChartScript(chart);
  const bool written = std::fwrite(script.data(), 1, script.size(), in.get()) == script.size() &&
                       std::fflush(in.get()) == 0;
  if (!written) Fail("cannot write a temporary file", errno);
  std::rewind(in.get());
  const int status = RunGnuplot(in.get(), out.get(), err.get());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram) {
    throw EnvironmentError(
        "gnuplot, which draws the picture, is not installed; install it "
        "(Debian: apt-get install gnuplot-nox) or leave out the picture");
  }
  std::string svg = Contents(out.get());
  if (status != 0 || svg.find("</svg>") == std::string::npos) {
    const std::string said = Contents(err.get());
    throw EnvironmentError(fmt::format("gnuplot failed (status {}): {}", status,
                                       said.empty() ? "it printed no picture" : said));
  }
  return svg;
}

}  // namespace zerosim
