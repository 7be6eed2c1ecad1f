#include "models/topology_files/xml_document.h"

#include <string>

#include <gtest/gtest.h>

namespace zerosim {
namespace {

std::string ErrorOf(const std::string& text) {
  Problems problems;
  problems.AddSource("t.xml", text);
  ParseXml(text, "t.xml", "a", &problems);
  try {
    problems.ThrowIfAny();
    return "";
  } catch (const ScenarioError& e) {
    return e.what();
  }
}

XmlElement Parse(const std::string& text) {
  Problems problems;
  const auto element = ParseXml(text, "t.xml", "a", &problems);
  problems.ThrowIfAny();
  return element.value();
}

TEST(ParseXml, KeepsThePlaceOfEveryElement) {
  const XmlElement root =
      Parse("<?xml version='1.0'?>\n<!-- c -->\n<a x=\"1\">\n  t <b/><b y='&lt;'/>\n</a>\n");

  EXPECT_EQ(root.where.line, 3);
  EXPECT_EQ(root.where.column, 1);
  EXPECT_EQ(root.Find("x"), "1");
  EXPECT_EQ(root.Find("y"), std::nullopt);
  ASSERT_EQ(root.children.size(), 2U);
  EXPECT_EQ(root.children[1].where.line, 4);
  EXPECT_EQ(root.children[1].where.column, 9);
  EXPECT_EQ(root.children[1].Find("y"), "<");
}

TEST(ParseXml, RefusesATruncatedText) {
  EXPECT_EQ(ErrorOf("<a>\n<b"),
            "t.xml:2:2: error: expected XML; Error parsing start element tag\n"
            "  <b\n"
            "   ^\n");
  EXPECT_EQ(ErrorOf("<a><b></b>"),
            "t.xml:1:10: error: expected XML; Start-end tags mismatch\n"
            "  <a><b></b>\n"
            "           ^\n");
}

TEST(ParseXml, RefusesWhatIsNotTheRoot) {
  EXPECT_EQ(ErrorOf("<b/>"),
            "t.xml:1:1: error: expected <a>, got <b>\n"
            "  <b/>\n"
            "  ^\n");
  EXPECT_EQ(ErrorOf("<a/><a/>"),
            "t.xml:1:5: error: expected one <a>, got a second element\n"
            "  <a/><a/>\n"
            "      ^\n");
  EXPECT_EQ(ErrorOf("hello"),
            "t.xml:1:1: error: expected XML that starts with <a>, got none\n"
            "  hello\n"
            "  ^\n");
  EXPECT_NE(ErrorOf(""), "");
}

TEST(ParseXml, RefusesAnAttributeGivenTwice) {
  EXPECT_EQ(ErrorOf("<a>\n  <b x=\"1\" x=\"2\"/></a>"),
            "t.xml:2:3: error: <b>: the attribute x is given twice\n"
            "    <b x=\"1\" x=\"2\"/></a>\n"
            "    ^\n");
}

// "A billion laughs": entities are not expanded, nor is a file read.
TEST(ParseXml, ExpandsNoEntities) {
  const XmlElement root = Parse(
      "<!DOCTYPE a [<!ENTITY l0 \"ha\"><!ENTITY l1 \"&l0;&l0;&l0;\">"
      "<!ENTITY f SYSTEM \"/etc/passwd\">]>\n"
      "<a x=\"&l1;\" y=\"&f;\"/>");

  EXPECT_EQ(root.Find("x"), "&l1;");
  EXPECT_EQ(root.Find("y"), "&f;");
}

TEST(ParseXml, RefusesWhatIsTooDeepOrTooLarge) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<a>";
  for (int i = 0; i < 10'000; ++i) deep += "</a>";
  EXPECT_NE(ErrorOf(deep).find("t.xml:1:193: error: nested deeper than 64 levels\n"),
            std::string::npos);
  EXPECT_EQ(ErrorOf("<a>" + std::string(300'000, ' ') + "</a>"),
            "t.xml: error: is larger than 262144 bytes\n");
}

TEST(ParseXml, RefusesBytesThatAreNoText) {
  EXPECT_EQ(ErrorOf("<a x=\"\xFF\"/>"),
            "t.xml:1:7: error: expected UTF-8 text, got the byte 0xFF\n"
            "  <a x=\"?\"/>\n"
            "        ^\n");
  EXPECT_NE(ErrorOf(std::string("<a/>\0", 5)).find("the control character 0x00"),
            std::string::npos);
}

TEST(IntegerAttribute, RefusesWhatIsOutOfRange) {
  Problems problems;
  const XmlElement element = Parse("<a n=\"3\" m=\"\" k=\"x\"/>");

  EXPECT_EQ(IntegerAttribute(element, "n", 0, 3, &problems), 3);
  EXPECT_EQ(IntegerAttribute(element, "m", 0, 3, &problems), std::nullopt);
  EXPECT_EQ(IntegerAttribute(element, "o", 0, 3, &problems), std::nullopt);
  EXPECT_FALSE(problems.has_errors());
  EXPECT_EQ(IntegerAttribute(element, "n", 0, 2, &problems), std::nullopt);
  EXPECT_EQ(IntegerAttribute(element, "k", 0, 2, &problems), std::nullopt);
  EXPECT_EQ(problems.error_count(), 2U);
}

}  // namespace
}  // namespace zerosim
