#include "models/scenario/document.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

std::string Repeated(const std::string& text, std::size_t bytes) {
  std::string out;
  while (out.size() + text.size() <= bytes) out += text;
  return out;
}

// What a user sees of `text` as doc.yaml, or "" if it is accepted.
std::string ErrorOf(const std::string& text) {
  Problems problems;
  ParseDocument(text, "doc.yaml", &problems);
  problems.AddSource("doc.yaml", text);
  try {
    problems.ThrowIfAny();
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

TEST(ParseDocument, KeepsOrderAndPlaces) {
  Problems problems;

  const auto root = ParseDocument("b: 1\na:\n  - x\n  - {c: \"y z\"}\n", "doc.yaml", &problems);

  ASSERT_TRUE(root && !problems.has_errors());
  ASSERT_EQ(root->entries.size(), 2U);
  EXPECT_EQ(root->entries[0].key, "b");
  const Node& list = root->entries[1].value;
  ASSERT_EQ(list.items.size(), 2U);
  const Entry& c = list.items[1].entries.at(0);
  EXPECT_EQ(c.value.text, "y z");
  EXPECT_EQ(c.where.line, 4);
  EXPECT_EQ(c.where.column, 6);
  EXPECT_EQ(c.value.where.column, 9);
}

TEST(ParseDocument, RefusesAKeyGivenTwice) {
  EXPECT_EQ(ErrorOf("a:\n  b: 1\n  b: 2\n"),
            "doc.yaml:3:3: error: a.b: given twice in this section\n"
            "    b: 2\n"
            "    ^\n");
}

TEST(ParseDocument, RefusesAnEmptyFile) {
  EXPECT_EQ(ErrorOf(""),
            "doc.yaml:1:1: error: expected a section such as \"cluster:\", got an empty file\n");
  EXPECT_EQ(ErrorOf("# only a comment\n"),
            "doc.yaml:1:1: error: expected a section such as \"cluster:\", got an empty file\n"
            "  # only a comment\n"
            "  ^\n");
}

TEST(ParseDocument, RefusesWhatIsNoSection) {
  EXPECT_EQ(ErrorOf("- a\n"),
            "doc.yaml:1:1: error: expected a section such as \"cluster:\", got a list\n"
            "  - a\n"
            "  ^\n");
}

TEST(ParseDocument, RefusesASecondDocument) {
  EXPECT_EQ(ErrorOf("a: 1\n---\nb: 2\n"),
            "doc.yaml:3:1: error: expected one document, got a second one\n"
            "  b: 2\n"
            "  ^\n");
}

TEST(ParseDocument, RefusesAnchorsWhichCouldGrowExponentially) {
  EXPECT_EQ(ErrorOf("a: &x [1, 1]\nb: [*x, *x]\n"),
            "doc.yaml:1:4: error: anchors and aliases are not supported; write the value out\n"
            "  a: &x [1, 1]\n"
            "     ^\n");
}

TEST(ParseDocument, RefusesTags) {
  EXPECT_EQ(ErrorOf("a: !!binary x\n"),
            "doc.yaml:1:4: error: tags such as \"tag:yaml.org,2002:binary\" are not supported\n"
            "  a: !!binary x\n"
            "     ^\n");
}

TEST(ParseDocument, RefusesBytesThatAreNotText) {
  EXPECT_EQ(ErrorOf(std::string("a: 1\nb: \0\n", 10)),
            "doc.yaml:2:4: error: expected text, got the control character 0x00\n"
            "  b: ?\n"
            "     ^\n");
  EXPECT_EQ(ErrorOf("a: \xC3(\n"),
            "doc.yaml:1:4: error: expected UTF-8 text, got the byte 0xC3\n"
            "  a: ?(\n"
            "     ^\n");
  EXPECT_EQ(ErrorOf("a: \xED\xA0\x80\n"),  // a surrogate
            "doc.yaml:1:4: error: expected UTF-8 text, got the byte 0xED\n"
            "  a: ???\n"
            "     ^\n");
}

TEST(ParseDocument, RefusesLinesThatEndInACarriageReturnAlone) {
  EXPECT_EQ(ErrorOf("a: 1\r\nb: 2\r\n"), "");
  EXPECT_EQ(ErrorOf("a: 1\rb: 2\r"),
            "doc.yaml:1:5: error: expected lines that end in LF or CR LF, got a CR alone; save the "
            "file with Unix line ends\n"
            "  a: 1?b: 2\n"
            "      ^\n");
}

TEST(ParseDocument, RefusesControlCharactersThatAnEscapeMakes) {
  EXPECT_EQ(ErrorOf("a: \"x\\0y\"\n"),
            "doc.yaml:1:4: error: expected text, got a control character in it\n"
            "  a: \"x\\0y\"\n"
            "     ^\n");
}

TEST(ParseDocument, RefusesTabsAsIndentation) {
  EXPECT_EQ(ErrorOf("a:\n\tb: 1\n"),
            "doc.yaml:2:1: error: expected spaces as indentation, got a tab\n"
            "   b: 1\n"
            "  ^\n");
}

TEST(ParseDocument, SaysWhereTheSyntaxBreaks) {
  EXPECT_EQ(ErrorOf("a: {b: 1\n"),
            "doc.yaml:2:1: error: expected YAML; end of map flow not found\n");
}

TEST(ParseDocument, RefusesDeepNesting) {
  EXPECT_EQ(ErrorOf("a: " + std::string(63, '[') + std::string(63, ']')), "");
  EXPECT_EQ(ErrorOf("a: " + std::string(64, '[') + std::string(64, ']')).substr(0, 56),
            "doc.yaml:1:67: error: nested deeper than 64 levels\n  ...");
}

TEST(ParseDocument, RefusesALargeFileBeforeParsingIt) {
  EXPECT_EQ(ErrorOf(std::string(kMaxFileBytes + 1, '[')),
            "doc.yaml: error: is larger than 262144 bytes\n");
}

// Texts as large as may be that make naive parsers recurse, copy or search without end.
TEST(ParseDocument, AnswersHostileTextsInSeconds) {
  for (const char* unit :
       {"[", "{",  "- ", "? ",    ": ",     "a: b\n", "\"",  "'",  "!",        "&a ", "*a ",
        "%", "\n", "#",  "---\n", "[a: b,", "a: {",   "|\n", "\\", "k: \"x\n", "{? "}) {
    const std::string text = Repeated(unit, kMaxFileBytes);
    const auto start = std::chrono::steady_clock::now();

    const std::string error = ErrorOf(text);

    // Half a second on the slowest of them without sanitizers.
    const auto taken = std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken, std::chrono::seconds(20)) << unit;
    EXPECT_LT(error.size(), 30'000U) << unit;
    EXPECT_NE(error, "") << unit;
  }
}

}  // namespace
}  // namespace zerosim
