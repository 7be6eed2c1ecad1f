#include "tools/zerosim/predict.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "sim/simulate.h"
#include "tools/zerosim/output_file.h"

namespace zerosim {
namespace {

// What a child writes into its pipe: few enough bytes that it never waits for its reader.
struct Message {
  double step_s = 0;
  double tokens_per_s = 0;
  std::int64_t allocated = 0;
};

struct Child {
  pid_t process = 0;
  int pipe = -1;
};

[[noreturn]] void RunChild(const Scenario& scenario, int pipe) {
  int status = 1;
  try {
    const StepReport report = Simulate(scenario, Engine::kFluid).report;
    const Message message{report.step.seconds(), report.tokens_per_s,
                          (report.memory.peak - report.memory.terms.context).count()};
    if (write(pipe, &message, sizeof message) == sizeof message) status = 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "zerosim: {}: {}\n", scenario.name, e.what());
  }
  // No destructors: what they would end belongs to the parent.
  _exit(status);
}

Child Start(const Scenario& scenario) {
  int ends[2];
  if (pipe(ends) != 0) {
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  // Else the child would inherit what is still in the buffers.
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(error)));
  }
  if (process == 0) {
    close(ends[0]);
    RunChild(scenario, ends[1]);
  }
  close(ends[1]);
  return {process, ends[0]};
}

// Waits for the child; nothing if it failed.
std::optional<Prediction> Finish(const Child& child) {
  Message message;
  ssize_t got = 0;
  do {
    got = read(child.pipe, &message, sizeof message);
  } while (got < 0 && errno == EINTR);
  close(child.pipe);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (got != sizeof message || status != 0) return std::nullopt;
  return Prediction{Seconds::Count(message.step_s), message.tokens_per_s,
                    Bytes::Count(message.allocated)};
}

}  // namespace

std::vector<Prediction> PredictAll(const std::vector<Scenario>& scenarios, int jobs,
                                   const std::function<void(std::size_t)>& done) {
  std::vector<Prediction> predictions;
  std::deque<Child> running;
  std::size_t started = 0;
  std::string failed;
  while (predictions.size() < scenarios.size()) {
    while (failed.empty() && started < scenarios.size() && std::ssize(running) < jobs) {
      running.push_back(Start(scenarios[started++]));
    }
    if (running.empty()) break;
    const std::optional<Prediction> prediction = Finish(running.front());
    running.pop_front();
    if (!prediction && failed.empty()) failed = scenarios[predictions.size()].name;
    predictions.push_back(prediction.value_or(Prediction()));
    done(predictions.size());
  }
  if (!failed.empty()) {
    throw EnvironmentError(fmt::format("the process that simulated {} failed", failed));
  }
  return predictions;
}

}  // namespace zerosim
