#include "tools/zerosim/terms.h"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/sample_report.h"
#include "tools/zerosim/report_json.h"

namespace zerosim {
namespace {

// Paths of all keys of `json`, lists without an index.
void CollectKeys(const nlohmann::ordered_json& json, const std::string& path,
                 std::set<std::string>& keys) {
  if (json.is_array()) {
    for (const auto& element : json) CollectKeys(element, path, keys);
  }
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    keys.insert(here);
    CollectKeys(value, here, keys);
  }
}

std::set<std::string> NamesOf(std::span<const Term> terms) {
  std::set<std::string> names;
  for (const Term& term : terms) names.emplace(term.name);
  return names;
}

TEST(Terms, ExplainEveryKeyOfTheResultAndNoOther) {
  std::set<std::string> keys;
  CollectKeys(ReportJson(SampleReport()), "", keys);
  EXPECT_EQ(NamesOf(ResultKeys()), keys);
}

TEST(Terms, OfTheFieldAndOfAReportAreSortedAndUnique) {
  const auto less = [](const Term& a, const Term& b) {
    return std::lexicographical_compare(
        a.name.begin(), a.name.end(), b.name.begin(), b.name.end(),
        [](char x, char y) { return std::tolower(x) < std::tolower(y); });
  };
  for (const auto terms : {FieldTerms(), ReportTerms()}) {
    EXPECT_TRUE(std::is_sorted(terms.begin(), terms.end(), less));
    EXPECT_EQ(NamesOf(terms).size(), terms.size());
    EXPECT_GE(terms.size(), 25u);
  }
}

TEST(Terms, AreSentences) {
  for (const auto terms : {FieldTerms(), ReportTerms(), ResultKeys()}) {
    for (const Term& term : terms) {
      EXPECT_TRUE(term.text.ends_with('.')) << term.name;
      EXPECT_EQ(term.text.find("  "), std::string_view::npos) << term.name;
    }
  }
}

TEST(FindTerms, FindsAKeyByItsLastParts) {
  EXPECT_THAT(
      FindTerms("collectives.time_s", ResultKeys()),
      testing::ElementsAre(testing::Field(&Term::name, "communication.collectives.time_s")));
  EXPECT_THAT(FindTerms("time_s", ResultKeys()), testing::SizeIs(2));  // and critical_path's
}

TEST(FindTerms, FindsNothingForAPartOfAWord) {
  EXPECT_THAT(FindTerms("fu", ResultKeys()), testing::IsEmpty());
  EXPECT_THAT(FindTerms("", ResultKeys()), testing::IsEmpty());
}

}  // namespace
}  // namespace zerosim
