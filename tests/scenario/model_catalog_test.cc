// The models of the catalog against their published numbers of parameters.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/scenario/read_scenario.h"

namespace zerosim {
namespace {

namespace fs = std::filesystem;

const fs::path kScenarios = fs::path(ZEROSIM_SOURCE_DIR) / "scenarios";

// Where a count comes from.
constexpr char kCard[] = "safetensors total on the model's page at huggingface.co";
constexpr char kFiles[] = "sum over the tensors of the model's files, a tied head once";
constexpr char kTied[] = "the same, less the copy of the tied head that the files hold";
constexpr char kFoundry[] = "llm-foundry, scripts/train/benchmarking/README.md, NumParams";
constexpr char kBloom[] = "arXiv 2211.05100, table 3, in millions";
constexpr char kGpt3[] = "arXiv 2005.14165, table 2.1, rounded";

struct Published {
  const char* model;
  double parameters;
  const char* source;
  double tolerance = 1e-3;  // more where the published figure is rounded
};

// What is rounded to two or three digits has half a unit of the last as its tolerance; GPT-3 a
// padded vocabulary in addition.
constexpr Published kPublished[] = {
    {"bloom_560m", 559e6, kBloom},
    {"bloom_1b1", 1065e6, kBloom},
    {"bloom_1b7", 1722e6, kBloom},
    {"bloom_3b", 3003e6, kBloom},
    {"bloom_7b1", 7069e6, kBloom},
    {"bloom_176b", 176'247e6, kBloom},
    {"deepseek_v3", 671'026'419'200, "tensors of the model's files without multi-token prediction"},
    {"falcon_7b", 6'921'720'704, kFiles},
    {"falcon_40b", 41'303'293'952, kFiles},
    {"falcon_180b", 179'522'565'120 - 65024.0 * 14848, kTied},
    {"gemma_2b", 2'506'172'416, kCard},
    {"gemma_7b", 8'537'680'896, kCard},
    {"gemma2_2b", 2'614'341'888, kCard},
    {"gemma2_9b", 9'241'705'984, kCard},
    {"gemma2_27b", 27'227'128'320, kCard},
    {"gpt3_125m", 125e6, kGpt3, 0.01},
    {"gpt3_350m", 350e6, kGpt3, 0.025},
    {"gpt3_760m", 760e6, kGpt3, 0.01},
    {"gpt3_1.3b", 1.3e9, kGpt3, 0.02},
    {"gpt3_2.7b", 2.7e9, kGpt3, 0.02},
    {"gpt3_6.7b", 6.7e9, kGpt3, 0.01},
    {"gpt3_13b", 13e9, kGpt3, 0.02},
    {"gpt3_175b", 175e9, kGpt3, 0.003},
    {"gpt_18b", 258.098e9 / 14, "checkpoint of the ZeRO++ tutorial, 14 bytes a parameter"},
    {"llama2_7b", 6'738'417'664, kCard},
    {"llama2_13b", 13'015'866'880, kCard},
    {"llama2_70b", 68'976'653'312, kCard},
    {"llama3_8b", 8'030'261'248, kCard},
    {"llama3_70b", 70'553'706'496, kCard},
    {"llama3_405b", 405'853'388'800, kCard},
    {"llama3.2_1b", 1'235'814'400, kCard},
    {"llama3.2_3b", 3'212'749'824, kCard},
    {"mistral_7b", 7'241'732'096, kCard},
    {"mixtral_8x7b", 46'702'792'704, kCard},
    {"mixtral_8x22b", 140'620'634'112, kCard},
    {"mpt_125m", 125'311'488, kFoundry},
    {"mpt_350m", 355'985'408, kFoundry},
    {"mpt_760m", 760'470'528, kFoundry},
    {"mpt_1b", 1'315'950'592, kFoundry},
    {"mpt_3b", 2'651'553'280, kFoundry},
    {"mpt_7b", 6'658'859'008, kFoundry},
    {"mpt_13b", 12'853'954'560, kFoundry},
    {"mpt_30b", 29'975'214'080, kFoundry},
    {"mpt_70b", 64'862'437'376, kFoundry},
    {"opt_125m", 125'239'296, kFiles},
    {"opt_350m", 331'196'416, kFiles},
    {"opt_1.3b", 1'315'758'080, kFiles},
    {"opt_2.7b", 2'651'596'800, kFiles},
    {"opt_6.7b", 6'658'473'984, kFiles},
    {"opt_13b", 12'853'473'280, kFiles},
    {"opt_30b", 29'974'540'288, kFiles},
    {"opt_66b", 66e9, "arXiv 2205.01068, table 1, rounded", 0.0076},
    {"opt_175b", 175e9, "arXiv 2205.01068, table 1, rounded", 0.0029},
    {"qwen2.5_0.5b", 494'032'768, kCard},
    {"qwen2.5_1.5b", 1'543'714'304, kCard},
    {"qwen2.5_3b", 3'085'938'688, kCard},
    {"qwen2.5_7b", 7'615'616'512, kCard},
    {"qwen2.5_14b", 14'770'033'664, kCard},
    {"qwen2.5_32b", 32'763'876'352, kCard},
    {"qwen2.5_72b", 72'706'203'648, kCard},
    {"qwen3_0.6b", 596'049'920, kFiles},
    {"qwen3_1.7b", 1'720'574'976, kFiles},
    {"qwen3_4b", 4'022'468'096, kCard},
    {"qwen3_8b", 8'190'735'360, kCard},
    {"qwen3_14b", 14'768'307'200, kCard},
    {"qwen3_32b", 32'762'123'264, kCard},
    {"qwen3_30b_a3b", 30'532'122'624, kCard},
    {"qwen3_235b_a22b", 235'093'634'560, kCard},
};

// What a token meets, as its publishers round it. DeepSeek's 37B fit without the embedding, of
// which a token meets one row.
constexpr Published kActive[] = {
    {"deepseek_v3", 37e9 + 129280.0 * 7168, "arXiv 2412.19437, abstract: 37B", 0.0135},
    {"mixtral_8x7b", 12.9e9, "mistral.ai/news/mixtral-of-experts: 12.9B", 0.004},
    {"mixtral_8x22b", 39e9, "mistral.ai/news/mixtral-8x22b: 39B", 0.013},
    {"qwen3_30b_a3b", 3.3e9, "model card of Qwen/Qwen3-30B-A3B: 3.3B, cut", 0.0165},
    {"qwen3_235b_a22b", 22e9, "arXiv 2505.09388, section 2: 22B", 0.0227},
};

ModelLayout LayoutOf(const std::string& model) {
  const ReadResult read = ReadScenario((kScenarios / "zero3_dgx2_384.yaml").string(),
                                       {{"model", model}, {"training.sequence_length", "512"}}, {});
  return Layout(read.scenario.model);
}

TEST(Models, HaveTheirPublishedNumberOfParameters) {
  for (const Published& row : kPublished) {
    const auto parameters = static_cast<double>(LayoutOf(row.model).parameters());
    EXPECT_NEAR(parameters / row.parameters, 1, row.tolerance)
        << row.model << ": " << parameters << ", published " << row.parameters << " (" << row.source
        << ")";
  }
}

TEST(Models, OfExpertsHaveTheirPublishedNumberOfActiveParameters) {
  for (const Published& row : kActive) {
    const auto parameters = static_cast<double>(LayoutOf(row.model).active_parameters());
    EXPECT_NEAR(parameters / row.parameters, 1, row.tolerance)
        << row.model << ": " << parameters << ", published " << row.parameters << " (" << row.source
        << ")";
  }
}

TEST(Models, AreAllHeldToAPublication) {
  std::vector<std::string> held;
  for (const Published& row : kPublished) held.emplace_back(row.model);
  std::vector<std::string> there;
  for (const auto& entry : fs::directory_iterator(kScenarios / "models")) {
    if (entry.path().extension() == ".yaml") there.push_back(entry.path().stem().string());
  }
  EXPECT_THAT(held, testing::UnorderedElementsAreArray(there));
}

TEST(Models, OfExpertsAreSmallLayouts) {
  EXPECT_LT(LayoutOf("deepseek_v3").weights.size(), 1000);
}

}  // namespace
}  // namespace zerosim
