// A YAML text as a tree in which every value knows its place, and the problems found in it.
//
// The only user of yaml-cpp. What the format has no need of is refused here, so that no text can
// crash or stall the reader: more than kMaxFileBytes, nesting deeper than kMaxDepth, anchors and
// aliases, tags, several documents, bytes that are not UTF-8, tabs as indentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/diagnostics.h"

namespace zerosim {

constexpr std::size_t kMaxFileBytes = 262'144;  // 256 KiB
constexpr int kMaxDepth = 64;

struct Entry;

struct Node {
  // kUnresolved: the name of a section that could not be found, which has been reported.
  enum class Kind : unsigned char { kNull, kText, kMap, kList, kUnresolved };

  Kind kind = Kind::kNull;
  std::string text;  // of kText
  Location where;
  std::vector<Entry> entries;  // of kMap, in the order of the text, no key twice
  std::vector<Node> items;     // of kList
  // Something else may have been meant, which has been reported: the key is given twice, or an
  // entry of this map is none.
  bool in_doubt = false;

  bool is_map() const { return kind == Kind::kMap; }
  bool is_text() const { return kind == Kind::kText; }

  // The value of `key`, or null if this is no map or has no such key.
  const Node* Find(std::string_view key) const;
  Node* Find(std::string_view key);
};

struct Entry {
  std::string key;
  Location where;  // of the key
  Node value;
};

// "a section", "a list", "nothing" or the quoted text: what stands where something else should.
std::string Describe(const Node& node);

// What reading has found so far.
class Problems {
 public:
  void Add(Location where, std::string what) {
    errors_.push_back({std::move(where), std::move(what)});
  }
  void Warn(Location where, std::string what) {
    warnings_.push_back({std::move(where), std::move(what)});
  }
  // What the reader made of something that was left to it: neither wrong nor doubtful.
  void Note(Location where, std::string what) {
    notes_.push_back({std::move(where), std::move(what)});
  }
  // Registers a text that problems may lie in. Problems are ordered by the order of these calls,
  // then by line and column.
  void AddSource(std::string file, std::string text) {
    sources_.push_back({std::move(file), std::move(text)});
  }

  // Adds the errors, warnings and notes of `other`.
  void Append(const Problems& other);
  // Notes that the value of the key `path` ("cluster.nodes") is not the one that was meant, which
  // has been reported. What follows from it is not worth a report.
  void Doubt(std::string path) { doubted_.insert(std::move(path)); }
  // Whether the key, or a section that holds it, was doubted.
  bool IsDoubted(std::string_view path) const;

  bool has_errors() const { return !errors_.empty(); }
  std::size_t error_count() const { return errors_.size(); }

  // Throws a ScenarioError with all errors if there is one.
  void ThrowIfAny() const;

  // "file:line:column: warning: what", one string each.
  std::vector<std::string> Warnings() const;
  // "file:line:column: note: what".
  std::vector<std::string> Notes() const;

 private:
  std::vector<Diagnostic> Sorted(std::vector<Diagnostic> diagnostics) const;
  std::vector<std::string> Texts(const std::vector<Diagnostic>& diagnostics,
                                 std::string_view kind) const;

  std::vector<Diagnostic> errors_;
  std::vector<Diagnostic> warnings_;
  std::vector<Diagnostic> notes_;
  std::vector<SourceText> sources_;
  std::set<std::string, std::less<>> doubted_;
};

// Parses `text`, whose problems are reported at `file`. Returns nothing if it cannot be read at
// all; an empty text is a problem too. `format` is what messages call it.
std::optional<Node> ParseDocument(const std::string& text, const std::string& file,
                                  Problems* problems, std::string_view format = "YAML");

}  // namespace zerosim
