#include "models/scenario/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "models/scenario/document.h"

namespace zerosim {
namespace fs = std::filesystem;

Files::Content DiskFiles::Read(const std::string& path) const {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return {std::nullopt, "no such file"};
  if (fs::is_directory(status)) return {std::nullopt, "is a folder, not a file"};

  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return {std::nullopt, fmt::format("cannot be opened: {}", std::strerror(errno))};
  // Not by the size that the file claims: a device or a pipe has none.
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return {std::nullopt, fmt::format("cannot be read: {}", std::strerror(errno))};
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxFileBytes) {
    return {std::nullopt,
            fmt::format("is larger than the {} bytes that a scenario may have", kMaxFileBytes)};
  }
  return {std::move(text), ""};
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
