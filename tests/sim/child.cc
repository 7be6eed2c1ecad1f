#include "tests/sim/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include <gtest/gtest.h>

namespace zerosim {

std::vector<double> InChild(const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (pipe(ends) != 0) {
    ADD_FAILURE() << "no pipe";
    return {};
  }
  // Else the child would inherit, and may print, what is still in the buffer.
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    int status = 0;
    try {
      for (const double value : work()) {
        if (write(ends[1], &value, sizeof value) != sizeof value) status = 2;
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in the child: %s\n", e.what());
      status = 1;
    }
    // No destructors: gtest's and SimGrid's belong to the parent.
    _exit(status);
  }
  close(ends[1]);
  std::vector<double> values;
  double value = 0;
  while (read(ends[0], &value, sizeof value) == sizeof value) values.push_back(value);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the child process failed";
  return status == 0 ? values : std::vector<double>();
}

}  // namespace zerosim
