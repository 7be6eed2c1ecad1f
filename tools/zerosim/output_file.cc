#include "tools/zerosim/output_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>
#include "tools/zerosim/interrupt.h"

namespace zerosim {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 18;

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  owned_ = true;
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) Fail(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    std::error_code error;
    if (exists) target_ = std::filesystem::canonical(path, error).string();
    if (error) Fail(error.value());
    temporary_ = fmt::format("{}.tmp.{}", target_, getpid());
    RemoveOnSignal(temporary_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_.clear();
    Fail(error);
  }
}

OutputFile::~OutputFile() {
  if (owned_ && descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::Write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferSize) Flush();
}

void OutputFile::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::Commit() {
  Flush();
  if (!owned_) return;
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) Fail(errno);  // where network file systems report a full disk
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) Fail(errno);
  KeepOnSignal(temporary_);
  temporary_.clear();
}

void OutputFile::Fail(int error) {
  const std::string what =
      fmt::format("{}: cannot write: {}", path_ == "-" ? "standard output" : path_,
                  std::generic_category().message(error));
  // A constructor that throws runs no destructor.
  if (owned_ && descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  throw EnvironmentError(what);
}

}  // namespace zerosim
