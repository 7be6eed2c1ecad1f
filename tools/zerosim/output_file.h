// A file that is written whole or not at all.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace zerosim {

// Something outside of the program and of its input went wrong: a disk, a permission.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes to a temporary file beside `path` and renames it on Commit(), so that a reader never sees
// half a result and a failed run leaves an older result alone. The destructor removes what was not
// committed. What is not a regular file (a pipe, /dev/null) is written to directly; "-" is standard
// output. Every failure throws EnvironmentError with the path and the system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(std::string_view text);
  void Commit();

 private:
  void Flush();
  [[noreturn]] void Fail(int error);

  std::string path_;       // as the user wrote it, for messages
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // empty if written directly
  std::string buffer_;
  int descriptor_ = -1;
  bool owned_ = false;  // the descriptor is ours to close
};

}  // namespace zerosim
