#include "models/scenario/document.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace zerosim {
namespace {

// Thrown through yaml-cpp's parser, which recurses, to stop it.
struct Refused {
  YAML::Mark mark;
  std::string what;
};

// Builds the tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string file, Problems* problems) : file_(std::move(file)), problems_(problems) {}

  Node TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Complete(
        {.kind = Node::Kind::kNull, .text = {}, .where = At(mark), .entries = {}, .items = {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override {
    RefuseAnchor(mark, 1);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    // The text itself holds none, but "\0" in double quotes makes one.
    if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 && c != '\n'; })) {
      throw Refused{mark, "expected text, got a control character in it"};
    }
    Complete(
        {.kind = Node::Kind::kText, .text = value, .where = At(mark), .entries = {}, .items = {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Node::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Node::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A map or list that is not complete yet.
  struct Frame {
    Node node;
    bool has_key = false;  // of a map: `key` waits for its value
    bool key_is_good = false;
    std::string key;
    Location key_where;
    std::set<std::string, std::less<>> keys;
  };

  // yaml-cpp counts from 0, and gives -1 where it knows no place.
  Location At(const YAML::Mark& mark) const {
    return {file_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
  }

  static void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) {
      throw Refused{mark, "anchors and aliases are not supported; write the value out"};
    }
  }

  // A plain scalar's tag is "?", a quoted one's "!".
  static void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Refused{mark, fmt::format("tags such as {} are not supported", Quoted(tag))};
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            Node::Kind kind) {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    if (frames_.size() >= kMaxDepth) {
      throw Refused{mark, fmt::format("nested deeper than {} levels", kMaxDepth)};
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.where = At(mark);
    frames_.push_back(std::move(frame));
  }

  void Close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    Complete(std::move(node));
  }

  void Complete(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == Node::Kind::kList) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.has_key) {
      TakeKey(&frame, std::move(node));
    } else {
      frame.has_key = false;
      if (!frame.key_is_good) return;
      frame.node.entries.push_back(
          {std::move(frame.key), std::move(frame.key_where), std::move(node)});
    }
  }

  void TakeKey(Frame* frame, Node node) {
    frame->has_key = true;
    frame->key_where = node.where;
    frame->key_is_good = false;
    if (!node.is_text()) {
      problems_->Add(node.where, "expected a key, got " + Describe(node));
      frame->node.in_doubt = true;
    } else if (!frame->keys.insert(node.text).second) {
      problems_->Add(node.where, PathOf(node.text) + ": given twice in this section");
      frame->node.Find(node.text)->in_doubt = true;
    } else {
      frame->key = std::move(node.text);
      frame->key_is_good = true;
    }
  }

  // "cluster.nodes" for the key `nodes` of the map that is open.
  std::string PathOf(const std::string& key) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      if (frames_[i].has_key) path += frames_[i].key + ".";
    }
    path += key;
    return path.size() > 100 ? Quoted(key) : path;
  }

  const std::string file_;
  Problems* const problems_;
  std::vector<Frame> frames_;
  Node root_;
};

// Reports the first byte that a scenario cannot hold. Returns true if there is none.
bool CheckBytes(std::string_view text, const std::string& file, Problems* problems) {
  Location at{file, 1, 1};
  bool only_blanks = true;  // so far in this line
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = Utf8Length(text.substr(i));
    if (length == 0) {
      problems->Add(at, fmt::format("expected UTF-8 text, got the byte 0x{:02X}", c));
      return false;
    }
    if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F) {
      problems->Add(at, fmt::format("expected text, got the control character 0x{:02X}", c));
      return false;
    }
    if (c == '\r' && !text.substr(i + 1).starts_with('\n')) {
      problems->Add(at,
                    "expected lines that end in LF or CR LF, got a CR alone; save the file with "
                    "Unix line ends");
      return false;
    }
    if (c == '\t' && only_blanks) {
      problems->Add(at, "expected spaces as indentation, got a tab");
      return false;
    }
    if (c == '\n') {
      ++at.line;
      at.column = 1;
      only_blanks = true;
    } else {
      at.column += static_cast<int>(length);
      only_blanks = only_blanks && c == ' ';
    }
    i += length;
  }
  return true;
}

}  // namespace

const Node* Node::Find(std::string_view key) const {
  const auto entry = std::ranges::find(entries, key, &Entry::key);
  return entry == entries.end() ? nullptr : &entry->value;
}

Node* Node::Find(std::string_view key) {
  return const_cast<Node*>(std::as_const(*this).Find(key));
}

std::string Describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
    case Node::Kind::kUnresolved:
      return "nothing";
    case Node::Kind::kText:
      return Quoted(node.text);
    case Node::Kind::kMap:
      return "a section";
    case Node::Kind::kList:
      return "a list";
  }
  return "nothing";
}

std::vector<Diagnostic> Problems::Sorted(std::vector<Diagnostic> diagnostics) const {
  std::map<std::string, std::size_t, std::less<>> rank;
  for (const SourceText& source : sources_) rank.emplace(source.file, rank.size());
  std::ranges::stable_sort(diagnostics, {}, [&](const Diagnostic& d) {
    const auto found = rank.find(d.where.file);
    const std::size_t file = found == rank.end() ? rank.size() : found->second;
    return std::tuple(file, d.where.line, d.where.column);
  });
  return diagnostics;
}

void Problems::Append(const Problems& other) {
  errors_.insert(errors_.end(), other.errors_.begin(), other.errors_.end());
  warnings_.insert(warnings_.end(), other.warnings_.begin(), other.warnings_.end());
  notes_.insert(notes_.end(), other.notes_.begin(), other.notes_.end());
}

bool Problems::IsDoubted(std::string_view path) const {
  if (doubted_.contains(path)) return true;
  const std::size_t dot = path.rfind('.');
  return dot != std::string_view::npos && IsDoubted(path.substr(0, dot));
}

void Problems::ThrowIfAny() const {
  if (has_errors()) throw ScenarioError(Sorted(errors_), sources_);
}

std::vector<std::string> Problems::Texts(const std::vector<Diagnostic>& diagnostics,
                                         std::string_view kind) const {
  std::vector<std::string> out;
  for (const Diagnostic& d : Sorted(diagnostics)) {
    out.push_back(fmt::format("{}: {}: {}", Place(d.where), kind, d.what));
  }
  return out;
}

std::vector<std::string> Problems::Warnings() const {
  return Texts(warnings_, "warning");
}

std::vector<std::string> Problems::Notes() const {
  return Texts(notes_, "note");
}

std::optional<Node> ParseDocument(const std::string& text, const std::string& file,
                                  Problems* problems, std::string_view format) {
  if (text.size() > kMaxFileBytes) {
    problems->Add({file, 0, 0}, fmt::format("is larger than {} bytes", kMaxFileBytes));
    return std::nullopt;
  }
  if (!CheckBytes(text, file, problems)) return std::nullopt;

  TreeBuilder builder(file, problems);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      problems->Add({file, 1, 1}, "expected a section such as \"cluster:\", got an empty file");
      return std::nullopt;
    }
    Node root = builder.TakeRoot();
    TreeBuilder second(file, problems);
    if (parser.HandleNextDocument(second)) {
      problems->Add(second.TakeRoot().where, "expected one document, got a second one");
      return std::nullopt;
    }
    if (!root.is_map()) {
      problems->Add(root.where, "expected a section such as \"cluster:\", got " + Describe(root));
      return std::nullopt;
    }
    return root;
  } catch (const Refused& e) {
    problems->Add({file, std::max(e.mark.line, 0) + 1, std::max(e.mark.column, 0) + 1}, e.what);
  } catch (const YAML::ParserException& e) {
    problems->Add({file, std::max(e.mark.line, 0) + 1, std::max(e.mark.column, 0) + 1},
                  fmt::format("expected {}; {}", format, e.msg));
  } catch (const YAML::Exception& e) {
    problems->Add({file, 0, 0}, fmt::format("expected {}; {}", format, e.msg));
  }
  return std::nullopt;
}

}  // namespace zerosim
