// The commands of zerosim: one function each, which adds a subcommand and says how to run it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "models/scenario/assemble.h"

namespace zerosim {

constexpr int kExitDone = 0;
constexpr int kExitEnvironment = 1;  // a disk, a permission, a fault of ours
constexpr int kExitUsage = 2;        // a scenario, an argument

// What the user asked for cannot be done as asked. what() is for people, without "zerosim:".
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Command {
  CLI::App* app = nullptr;
  std::function<void()> execute;  // prints to standard output, throws on failure
};

Command AddCheck(CLI::App& zerosim);
Command AddCollective(CLI::App& zerosim);
Command AddExplain(CLI::App& zerosim);
Command AddExport(CLI::App& zerosim);
Command AddImport(CLI::App& zerosim);
Command AddRun(CLI::App& zerosim);
Command AddValidate(CLI::App& zerosim);
Command AddValidateNccl(CLI::App& zerosim);

// Where scenarios find hardware and models by name, after their own folder and those above it.
Catalog DefaultCatalog();

// CLI11's IsMember with a message that says what was expected.
CLI::Validator OneOf(const std::vector<std::string>& names);
// Accepts the path of a file, which an argument that a script forgot to fill in is not.
CLI::Validator FilePath();

// Prints to standard error. A message that cannot arrive changes nothing, least of all the exit
// status.
void PrintError(std::string_view text);

// "cluster.nodes=48" in two. Throws UsageError if there is no '=' or nothing before it.
Override ParseOverride(const std::string& text);

}  // namespace zerosim
