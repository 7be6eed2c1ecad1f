// Where the keys of a scenario were written, as messages name it.
#pragma once

#include <string>
#include <string_view>

#include "models/scenario/document.h"

namespace zerosim {

class Places {
 public:
  // Of the keys below `root`, which must outlive this.
  explicit Places(const Node& root) : root_(root) {}

  // The entry of "cluster.nodes", or of "cluster.exceptions[2].nodes", or null.
  const Entry* Find(std::string_view path) const;
  bool Has(std::string_view path) const { return Find(path) != nullptr; }

  // Whether the value at `path`, given or not, and the sections around it are what was meant.
  bool Trusts(std::string_view path) const;

  // The place of the value (of a section, its key), or of the nearest section around it that is
  // given.
  Location Of(std::string_view path) const;

  // " (line 10)", with the file's name if it is not that of `from`, and " (the default)" for what
  // is not given.
  std::string Mention(std::string_view path, const Location& from) const;

 private:
  const Node& root_;
};

}  // namespace zerosim
