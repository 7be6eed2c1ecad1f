// The command line of zerosim: reads arguments, calls the command, turns exceptions into a line on
// standard error and an exit status.
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "models/core/diagnostics.h"
#include "tools/zerosim/command.h"
#include "tools/zerosim/interrupt.h"
#include "tools/zerosim/nearest.h"
#include "tools/zerosim/version.h"

namespace zerosim {
namespace {

constexpr const char* kDescription =
    "Predict the time, bytes and memory of ZeRO, ZeRO++ and FSDP training steps on a cluster.";

constexpr const char* kFooter =
    "Each command has its own --help.\n"
    "\n"
    "Examples:\n"
    "  zerosim run scenarios/zeropp_dgx2_384.yaml\n"
    "  zerosim run my.yaml --set cluster.nodes=48 --json result.json --trace trace.json\n"
    "  zerosim check my.yaml\n"
    "  zerosim import deepspeed ds_config.json --hidden 4096\n"
    "  zerosim validate validate/published/*.yaml\n"
    "  zerosim validate-nccl validate/nccl_clusters.yaml --logs nccl-tests\n"
    "  zerosim explain qgZ\n"
    "\n"
    "Exit status: 0 done, 1 a fault of the environment, 2 of the scenario or the arguments.";

// What CLI11 says, in our words: which option is unknown and which was meant.
std::string UsageText(const std::string& command, const CLI::App& app, const CLI::ParseError& e) {
  for (const std::string& argument : app.remaining(true)) {
    const bool is_option = argument.starts_with('-');
    std::vector<std::string> known;
    if (is_option) {
      for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    } else {
      for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
      if (known.empty()) return fmt::format("{}: unexpected argument \"{}\"", command, argument);
    }
    const std::string name = argument.substr(0, is_option ? argument.find('=') : argument.npos);
    const std::vector<std::string> near = NearestNames(name, known, 1);
    std::string hint;
    if (!near.empty()) {
      hint = "; did you mean " + near[0] + "?";
    } else if (!is_option && app.get_parent() != nullptr) {
      hint = fmt::format("; expected {}", fmt::join(known, " or "));
    }
    return fmt::format("{}: unknown {} {}{}", command, is_option ? "option" : "command", name,
                       hint);
  }
  std::string what = e.what();
  // "A subcommand is required", but not "SCENARIO is required".
  if (what.size() > 1 && std::isupper(static_cast<unsigned char>(what[1])) == 0) {
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  }
  return fmt::format("{}: {}", command, what);
}

int Report(int status, const std::string& what) {
  std::fflush(stdout);
  PrintError(what.ends_with('\n') ? what : what + '\n');
  return status;
}

int ReportOutput(int error) {
  return Report(kExitEnvironment, fmt::format("zerosim: standard output: cannot write: {}",
                                              std::generic_category().message(error)));
}

// What was printed counts only if all of it arrived.
int Done() {
  std::cout.flush();  // CLI11 prints help there
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? kExitDone : ReportOutput(errno);
}

int Execute(const Command& command) {
  try {
    command.execute();
  } catch (const std::system_error& e) {
    // What fmt throws in the middle of a text.
    if (std::ferror(stdout) == 0) throw;
    return ReportOutput(e.code().value());
  }
  return Done();
}

// A file that is opened must not get the number of a standard stream that is closed: what is
// printed there would end up in it. The placeholder is open the wrong way round, so that reading or
// writing fails as it would have.
void OccupyStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int Main(int argc, char** argv) {
  CLI::App app(kDescription, "zerosim");
  app.set_version_flag("--version", std::string(Version()), "Print the version and exit");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(kFooter);
  const std::vector<Command> commands{AddRun(app),          AddCheck(app),      AddImport(app),
                                      AddExport(app),       AddCollective(app), AddValidate(app),
                                      AddValidateNccl(app), AddExplain(app)};

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);  // prints --help or --version
    return Done();
  } catch (const CLI::ParseError& e) {
    std::string name = "zerosim";
    const CLI::App* inner = &app;
    while (!inner->get_subcommands().empty()) {
      inner = inner->get_subcommands().front();
      name += " " + inner->get_name();
    }
    return Report(kExitUsage,
                  UsageText(name, *inner, e) + (inner == &app ? "; see zerosim --help" : ""));
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return Execute(command);
  }
  return kExitUsage;
}

}  // namespace
}  // namespace zerosim

int main(int argc, char** argv) {
  using zerosim::Report;
  zerosim::OccupyStandardStreams();
  zerosim::RemoveFilesOnSignals();
  try {
    return zerosim::Main(argc, argv);
  } catch (const zerosim::ScenarioError& e) {
    return Report(zerosim::kExitUsage, e.what());
  } catch (const zerosim::UsageError& e) {
    return Report(zerosim::kExitUsage, fmt::format("zerosim: {}", e.what()));
  } catch (const std::bad_alloc&) {
    return Report(zerosim::kExitEnvironment, "zerosim: out of memory");
  } catch (const std::exception& e) {
    return Report(zerosim::kExitEnvironment, fmt::format("zerosim: {}", e.what()));
  }
}
