#include "models/frameworks/sections_yaml.h"

#include <string>

#include <gtest/gtest.h>

#include "models/scenario/canonical_text.h"
#include "models/scenario/document.h"

namespace zerosim {
namespace {

Node Parse(const std::string& text) {
  Problems problems;
  const std::optional<Node> node = ParseDocument(text, "t.yaml", &problems);
  problems.ThrowIfAny();
  return node.value();
}

TEST(SectionsYaml, IsWhatAUserWouldWrite) {
  EXPECT_EQ(
      SectionsYaml(Parse("{zero: {stage: 3, reduce_bucket_size: 5e8, overlap: {reduce: false}}, "
                         "training: {}}")),
      "zero:\n"
      "  stage: 3\n"
      "  reduce_bucket_size: 5e8\n"
      "  overlap:\n"
      "    reduce: false\n"
      "training: {}\n");
}

TEST(SectionsYaml, ReadsBackAsTheSame) {
  for (const char* text : {"a: \"x: y\"", "a: \"null\"", "a: \"-\"", "a: \"\"", "a: \"# b\"",
                           "a: \"it's \\\"q\\\" \\\\ \"", "\"a b\": {c: \"1\\n2\"}", "a:"}) {
    const Node node = Parse(text);
    EXPECT_EQ(CanonicalText(Parse(SectionsYaml(node))), CanonicalText(node)) << text;
  }
}

}  // namespace
}  // namespace zerosim
