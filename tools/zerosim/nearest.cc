#include "tools/zerosim/nearest.h"

#include <cctype>
#include <map>

#include "models/scenario/keys.h"

namespace zerosim {

std::string Folded(std::string_view word) {
  std::string folded;
  for (const char c : word) {
    if (c == '-' || c == '_' || c == ' ') continue;
    folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string>& known,
                                      int most) {
  std::map<std::string, std::string> names;  // by what they fold to
  std::vector<std::string> rest;
  for (const std::string& name : known) {
    if (names.emplace(Folded(name), name).second) rest.push_back(Folded(name));
  }
  std::vector<std::string> near;
  while (static_cast<int>(near.size()) < most) {
    const std::string next = Nearest(Folded(word), rest);
    if (next.empty()) break;
    near.push_back(names.at(next));
    std::erase(rest, next);
  }
  return near;
}

}  // namespace zerosim
