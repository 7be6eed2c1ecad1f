// Where the reader gets texts from: the disk, or a map in memory for tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zerosim {

class Files {
 public:
  struct Content {
    std::optional<std::string> text;
    std::string problem;  // "no such file", if there is no text
  };

  virtual ~Files() = default;

  // Reads the file at `path`, at most kMaxFileBytes of it.
  virtual Content Read(const std::string& path) const = 0;
  virtual bool Exists(const std::string& path) const = 0;
  // Names of the files in `folder`, sorted; none if it is no folder.
  virtual std::vector<std::string> List(const std::string& folder) const = 0;
};

// Of what is no regular file it reads standard input and pipes, and refuses a pipe that has no
// writer after a second.
class DiskFiles : public Files {
 public:
  Content Read(const std::string& path) const override;
  bool Exists(const std::string& path) const override;
  std::vector<std::string> List(const std::string& folder) const override;
};

class MemoryFiles : public Files {
 public:
  explicit MemoryFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  Content Read(const std::string& path) const override;
  bool Exists(const std::string& path) const override { return files_.contains(path); }
  std::vector<std::string> List(const std::string& folder) const override;

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace zerosim
