#include "tools/zerosim/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace zerosim {
namespace {

constexpr int kMaxFiles = 8;
constexpr std::size_t kMaxPath = 4096;

struct Slot {
  std::atomic<bool> used{false};
  char path[kMaxPath] = {};
};

Slot slots[kMaxFiles];

extern "C" void RemoveAndEnd(int signal) {
  for (const Slot& slot : slots) {
    if (slot.used.load()) unlink(slot.path);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

void RemoveFilesOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // Whoever started the program with a signal ignored (nohup) wants it ignored.
    if (std::signal(signal, RemoveAndEnd) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void RemoveOnSignal(const std::string& path) {
  if (path.size() + 1 > kMaxPath) return;
  for (Slot& slot : slots) {
    if (slot.used.load()) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.used.store(true);
    return;
  }
}

void KeepOnSignal(const std::string& path) {
  for (Slot& slot : slots) {
    if (slot.used.load() && path == slot.path) slot.used.store(false);
  }
}

}  // namespace zerosim
