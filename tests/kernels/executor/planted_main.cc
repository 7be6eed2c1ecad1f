// planted NAME[:SEED]...: runs planted kernels forwards, or in a random order, and prints of each
// its message and whether the result is right. A sanitizer that finds something prints and ends the
// process its own way.
#include <cstdio>
#include <string>

#include "tests/kernels/executor/planted.h"

int main(int argc, char** argv) {
  namespace kernels = zerosim::kernels;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string name = argument.substr(0, argument.find(':'));
    kernels::executor::LaunchOptions options;
    if (name != argument) {
      options.order = kernels::executor::Order::kRandom;
      options.seed = std::stoull(argument.substr(name.size() + 1));
    }
    const kernels::Outcome outcome = kernels::PlantedOf(name).run(options);
    std::printf("%s: %s: %s\n", argument.c_str(), outcome.message.c_str(),
                outcome.right ? "right" : "wrong");
  }
  return 0;
}
