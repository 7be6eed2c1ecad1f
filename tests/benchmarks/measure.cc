#include "tests/benchmarks/measure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace zerosim {

double SortTime() {
  std::mt19937_64 next(1);
  std::vector<std::uint64_t> numbers(kSorted);
  for (std::uint64_t& number : numbers) number = next();
  const auto begin = std::chrono::steady_clock::now();
  std::sort(numbers.begin(), numbers.end());
  const auto end = std::chrono::steady_clock::now();
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  return std::chrono::duration<double>(end - begin).count();
}

bool Slowed() {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  return false;
#else
  return true;
#endif
}

ProcessCost CostOfProcess(const std::vector<std::string>& words, int runs) {
  ProcessCost cost;
  std::vector<std::string> arguments = words;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (int run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    EXPECT_EQ(status, 0) << words[0];
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    cost.seconds = std::min(cost.seconds, wall.count());
    cost.megabytes = std::max(cost.megabytes, static_cast<double>(usage.ru_maxrss) * 1024e-6);
  }
  return cost;
}

}  // namespace zerosim
