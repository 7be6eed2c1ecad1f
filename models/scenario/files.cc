#include "models/scenario/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/scenario/document.h"

namespace zerosim {
namespace fs = std::filesystem;

namespace {

// How long a pipe may be without anyone who writes to it.
constexpr int kWriterMs = 1000;

// An open file, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

// Whether `status` is what this process has as standard input.
bool IsStandardInput(const struct stat& status) {
  struct stat input {};
  return fstat(STDIN_FILENO, &input) == 0 && input.st_dev == status.st_dev &&
         input.st_ino == status.st_ino;
}

// Waits until `file` can be read or has ended, for at most `ms` (-1: for ever). Returns false if it
// took longer.
bool WaitFor(const Descriptor& file, int ms) {
  pollfd wanted{file.number(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, ms);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

// Reads `file`, which does not block, to its end.
Files::Content ReadAll(const Descriptor& file, bool is_pipe) {
  // Not by the size that the file claims: a pipe has none.
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  bool had_writer = !is_pipe;
  bool waited = false;
  while (size < text.size()) {
    const ssize_t got = read(file.number(), text.data() + size, text.size() - size);
    if (got > 0) {
      size += static_cast<std::size_t>(got);
      had_writer = true;
    } else if (got == 0 && had_writer) {
      break;
    } else if (got == 0 && waited) {
      return {std::nullopt, fmt::format("is a pipe that nothing was written to within {} s; start "
                                        "its writer first",
                                        kWriterMs / 1000)};
    } else if (got == 0) {
      // No writer: it is gone, which poll() tells at once, or none has come yet.
      had_writer = WaitFor(file, kWriterMs);
      waited = true;
    } else if (errno == EAGAIN) {
      // There is a writer, who may take its time.
      had_writer = true;
      WaitFor(file, -1);
    } else if (errno != EINTR) {
      return {std::nullopt, fmt::format("cannot be read: {}", std::strerror(errno))};
    }
  }
  if (size > kMaxFileBytes) {
    return {std::nullopt,
            fmt::format("is larger than the {} bytes that a scenario may have", kMaxFileBytes)};
  }
  text.resize(size);
  return {std::move(text), ""};
}

}  // namespace

Files::Content DiskFiles::Read(const std::string& path) const {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {std::nullopt, "no such file"};
    return {std::nullopt, fmt::format("cannot be opened: {}", std::strerror(errno))};
  }
  if (S_ISDIR(status.st_mode)) return {std::nullopt, "is a folder, not a file"};
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (!S_ISREG(status.st_mode) && !is_pipe && !IsStandardInput(status)) {
    return {std::nullopt, "is neither a file nor a pipe"};
  }
  // A pipe without a writer would block as soon as it is opened.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0) {
    return {std::nullopt, fmt::format("cannot be opened: {}", std::strerror(errno))};
  }
  return ReadAll(file, is_pipe);
}

bool DiskFiles::Exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<std::string> DiskFiles::List(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Files::Content MemoryFiles::Read(const std::string& path) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return {std::nullopt, "no such file"};
  return {found->second, ""};
}

std::vector<std::string> MemoryFiles::List(const std::string& folder) const {
  const std::string prefix = folder + "/";
  std::vector<std::string> names;
  for (const auto& [path, text] : files_) {
    if (path.starts_with(prefix) && path.find('/', prefix.size()) == std::string::npos) {
      names.push_back(path.substr(prefix.size()));
    }
  }
  return names;
}

}  // namespace zerosim
