#include "models/frameworks/json_document.h"

#include <string>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

// What a user sees of `text`, or "" if it can be read.
std::string ErrorOf(const std::string& text) {
  Problems problems;
  problems.AddSource("c.json", text);
  ParseJsonDocument(text, "c.json", &problems);
  try {
    problems.ThrowIfAny();
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

Node Parse(const std::string& text) {
  Problems problems;
  const std::optional<Node> node = ParseJsonDocument(text, "c.json", &problems);
  problems.ThrowIfAny();
  return node.value();
}

TEST(ParseJsonDocument, KeepsThePlaceOfEveryValue) {
  const Node root =
      Parse("{\n\t\"a\": {\"b\":1e9,\t\"c\": [true, null]},\n  \"d\": \"x/\\u00e9\"\n}");

  EXPECT_EQ(root.Find("a")->Find("b")->text, "1e9");
  EXPECT_EQ(root.Find("a")->Find("b")->where.line, 2);
  EXPECT_EQ(root.Find("a")->Find("b")->where.column, 12);
  EXPECT_EQ(root.Find("a")->Find("c")->where.column, 22);
  EXPECT_EQ(root.Find("a")->Find("c")->items[0].text, "true");
  EXPECT_EQ(root.Find("a")->Find("c")->items[1].kind, Node::Kind::kNull);
  EXPECT_EQ(root.Find("d")->text, "x/\xC3\xA9");
}

TEST(ParseJsonDocument, ReadsWhatHjsonReadsToo) {
  EXPECT_EQ(ErrorOf("# a comment with a \"\n{\"a\": 1, # another\t\"\n\t\"b\": 2,}\n"), "");
  EXPECT_EQ(ErrorOf("\r\n{}"), "");
}

TEST(ParseJsonDocument, RefusesAByteOrderMark) {
  EXPECT_EQ(ErrorOf("\xEF\xBB\xBF{}"),
            "c.json:1:1: error: expected JSON, got a byte order mark, which JSON parsers refuse; "
            "save the file without one\n"
            "  \xEF\xBB\xBF{}\n"
            "  ^\n");
}

TEST(ParseJsonDocument, RefusesWhatIsNoObject) {
  EXPECT_EQ(ErrorOf(" \n"),
            "c.json:1:1: error: expected a JSON object, got an empty file\n"
            "   \n"
            "  ^\n");
  EXPECT_EQ(ErrorOf("\n a: 1"),
            "c.json:2:2: error: expected a JSON object, which starts with \"{\", got \"a\"\n"
            "   a: 1\n"
            "   ^\n");
  EXPECT_NE(ErrorOf("[1]"), "");
  EXPECT_NE(ErrorOf("{\"a\": 1} {\"b\": 2}"), "");
  EXPECT_NE(ErrorOf("{\"a\": 1} x"), "");
}

TEST(ParseJsonDocument, RefusesATruncatedText) {
  EXPECT_EQ(ErrorOf("{\"a\": {\"b\": 1"),
            "c.json:1:7: error: expected JSON; this \"{\" is never closed\n"
            "  {\"a\": {\"b\": 1\n"
            "        ^\n");
  EXPECT_NE(ErrorOf("{\"a\": \"b"), "");
  EXPECT_NE(ErrorOf("{\"a"), "");
  EXPECT_NE(ErrorOf("{"), "");
}

TEST(ParseJsonDocument, RefusesEqualKeys) {
  EXPECT_EQ(ErrorOf("{\"a\": {\"b\": 1,\n\"b\": 2}}"),
            "c.json:2:1: error: a.b: given twice in this section\n"
            "  \"b\": 2}}\n"
            "  ^\n");
}

TEST(ParseJsonDocument, RefusesBytesThatAreNoText) {
  EXPECT_EQ(ErrorOf("\x89PNG\r\n"),
            "c.json:1:1: error: expected UTF-8 text, got the byte 0x89\n"
            "  ?PNG\n"
            "  ^\n");
  EXPECT_NE(ErrorOf(std::string("{\"a\": \"\0\"}", 10)), "");
  EXPECT_NE(ErrorOf("{\"a\": \"tab\tin a string\"}"), "");
}

TEST(ParseJsonDocument, RefusesWhatIsNestedTooDeep) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{\"a\":";
  deep += "1" + std::string(1000, '}');
  EXPECT_NE(ErrorOf(deep).find("nested deeper than 64 levels"), std::string::npos);
}

}  // namespace
}  // namespace zerosim
