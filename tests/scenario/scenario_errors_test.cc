// What a user sees of a scenario that is wrong: whole texts.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t CountOf(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ScenarioErrors, ComeAllAtOnceInTheOrderOfTheText) {
  const std::string text =
      "name: small\n"
      "cluster:\n"
      "  node: tiny_nod\n"
      "  nodes: 0\n"
      "  fabric: {nic_bandwidth: 100, latncy: 2 us}\n"
      "training: {precision: fp8}\n"
      "zero:\n"
      "  quantized_weights: yes\n";

  EXPECT_EQ(ErrorOf(text),
            "s.yaml:1:1: error: model: missing; expected a name from the catalog or a section\n"
            "  name: small\n"
            "  ^\n"
            "s.yaml:3:9: error: cluster.node: no node \"tiny_nod\" in the catalog; did you mean "
            "\"tiny_node\"?\n"
            "    node: tiny_nod\n"
            "          ^\n"
            "s.yaml:4:10: error: cluster.nodes: expected a whole number from 1 to 16777216, got "
            "\"0\"\n"
            "    nodes: 0\n"
            "           ^\n"
            "s.yaml:5:27: error: cluster.fabric.nic_bandwidth: expected a rate such as \"400 "
            "Gbps\" or \"50 GB/s\", got \"100\"\n"
            "    fabric: {nic_bandwidth: 100, latncy: 2 us}\n"
            "                            ^\n"
            "s.yaml:5:32: error: cluster.fabric.latncy: no such key; did you mean \"latency\"?\n"
            "    fabric: {nic_bandwidth: 100, latncy: 2 us}\n"
            "                                 ^\n"
            "s.yaml:6:1: error: training.sequence_length: missing; expected a whole number from 1 "
            "to 16777216\n"
            "  training: {precision: fp8}\n"
            "  ^\n"
            "s.yaml:6:23: error: training.precision: expected fp16 or bf16, got \"fp8\"\n"
            "  training: {precision: fp8}\n"
            "                        ^\n"
            "s.yaml:7:1: error: zero.stage: missing; expected a whole number from 0 to 3\n"
            "  zero:\n"
            "  ^\n"
            "s.yaml:8:22: error: zero.quantized_weights: expected true, false or a section, got "
            "\"yes\"\n"
            "    quantized_weights: yes\n"
            "                       ^\n");
}

TEST(ScenarioErrors, PointIntoTheFileOfTheCatalog) {
  EXPECT_EQ(ErrorOf(SmallScenario(), {},
                    {{"cat/hardware/gpus/tiny_gpu.yaml",
                      "memory: 16\npeak: 100 TFLOP/s\nmemory_bandwidth: 1 TB/s\n"}}),
            "cat/hardware/gpus/tiny_gpu.yaml:1:9: error: cluster.node.gpu.memory: expected a size "
            "such as \"80 GB\" or \"80 GiB\", got \"16\"\n"
            "  memory: 16\n"
            "          ^\n");
}

TEST(ScenarioErrors, SayThatTheDefaultsOfAMissingSectionAreNoProblem) {
  EXPECT_EQ(ErrorOf("name: x\n"),
            "s.yaml:1:1: error: cluster: missing; expected a section\n"
            "  name: x\n"
            "  ^\n"
            "s.yaml:1:1: error: model: missing; expected a name from the catalog or a section\n"
            "  name: x\n"
            "  ^\n"
            "s.yaml:1:1: error: training: missing; expected a section\n"
            "  name: x\n"
            "  ^\n"
            "s.yaml:1:1: error: zero: missing; expected a section \"zero\" or \"fsdp\"\n"
            "  name: x\n"
            "  ^\n");
}

TEST(ScenarioErrors, RefuseNumbersBeyondReason) {
  for (const char* nodes : {"-1", "0", "1e30", "4294967296", "1.5", "nan", "inf", ".nan", "\"\"",
                            "1e-400", "0x10", "[1]", "{a: 1}", "~"}) {
    EXPECT_THAT(ErrorOf(Small("nodes: 2", std::string("nodes: ") + nodes)),
                HasSubstr("cluster.nodes: expected a whole number from 1 to 16777216, got "))
        << nodes;
  }
}

TEST(ScenarioErrors, RefuseTheFirstValueBeyondEachBound) {
  const std::string stages = "zero.stage: expected a whole number from 0 to 3, got ";

  EXPECT_THAT(ErrorOf(SmallScenario(), {{"zero.stage", "-1"}}), HasSubstr(stages + "\"-1\"\n"));
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"zero.stage", "0"}}), "");
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"zero.stage", "3"}}), "");
  EXPECT_THAT(ErrorOf(SmallScenario(), {{"zero.stage", "4"}}), HasSubstr(stages + "\"4\"\n"));
}

TEST(ScenarioErrors, RefuseAQuantityThatIsZeroOrAbsurd) {
  EXPECT_EQ(ErrorOf(Small("100 Gbps", "0 Gbps")),
            "s.yaml:5:45: error: cluster.fabric.nic_bandwidth: expected a rate from 1.00 KB/s to "
            "1.00 PB/s, got \"0 Gbps\"\n"
            "    fabric: {nics_per_node: 2, nic_bandwidth: 0 Gbps, latency: 2 us}\n"
            "                                              ^\n");
  EXPECT_EQ(ErrorOf(Small("2 us", "2 h")),
            "s.yaml:5:64: error: cluster.fabric.latency: expected a duration such as \"5 us\", got "
            "\"2 h\"\n"
            "    fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 h}\n"
            "                                                                 ^\n");
}

TEST(ScenarioErrors, BoundTheNumberOfRanks) {
  EXPECT_EQ(ErrorOf(Small("nodes: 2", "nodes: 16777216")),
            "s.yaml:4:10: error: cluster.nodes: 16777216 nodes x 4 GPUs "
            "(cat/hardware/nodes/tiny_node.yaml:2) are 67108864 ranks; expected at most 16777216, "
            "which are 4194304 nodes\n"
            "    nodes: 16777216\n"
            "           ^\n");
}

TEST(ScenarioErrors, DoTheSumOfTheGlobalBatch) {
  const auto with = [](const std::string& size) {
    return Small(
        "  sequence_length: 128\n",
        "  sequence_length: 128\n  micro_batch_size: 4\n  global_batch_size: " + size + "\n");
  };

  EXPECT_EQ(ErrorOf(with("32")), "");
  EXPECT_EQ(ErrorOf(with("1000")),
            "s.yaml:10:22: error: training.global_batch_size: expected 32 = micro_batch_size 4 "
            "(line 9) x gradient_accumulation_steps 1 (the default) x ranks 8, got 1000; nearest "
            "are 992 and 1024, with gradient_accumulation_steps 31 and 32\n"
            "    global_batch_size: 1000\n"
            "                       ^\n");
  EXPECT_THAT(ErrorOf(with("64")),
              HasSubstr("got 64; gradient_accumulation_steps 2 would give it\n"));
  EXPECT_THAT(ErrorOf(with("16")), HasSubstr("got 16; the least is 32\n"));
}

TEST(ScenarioErrors, DemandSecondaryGroupsThatDivide) {
  EXPECT_EQ(ErrorOf(SmallScenario() + "  secondary_partition_size: 3\n"),
            "s.yaml:11:29: error: zero.secondary_partition_size: expected a divisor of the 8 ranks "
            "(2 nodes (line 4) x 4 GPUs), got 3; nearest are 2 and 4\n"
            "    secondary_partition_size: 3\n"
            "                              ^\n");
  EXPECT_EQ(ErrorOf(Small("nodes: 2", "nodes: 3") + "  secondary_partition_size: 6\n"),
            "s.yaml:11:29: error: zero.secondary_partition_size: expected a divisor or a multiple "
            "of the 4 GPUs of a node (cat/hardware/nodes/tiny_node.yaml:2), got 6; nearest are 4 "
            "and 12\n"
            "    secondary_partition_size: 6\n"
            "                              ^\n");
  EXPECT_THAT(ErrorOf(SmallScenario() + "  secondary_partition_size: 16\n"),
              HasSubstr("zero.secondary_partition_size: expected at most the 8 ranks, got 16\n"));
}

TEST(ScenarioErrors, HoldTheFabricAgainstTheNode) {
  EXPECT_EQ(ErrorOf(Small("nics_per_node: 2", "nics_per_node: 3")),
            "s.yaml:5:27: error: cluster.fabric.nics_per_node: expected at most the 2 NICs of the "
            "node (cat/hardware/nodes/tiny_node.yaml:6), got 3\n"
            "    fabric: {nics_per_node: 3, nic_bandwidth: 100 Gbps, latency: 2 us}\n"
            "                            ^\n");
}

TEST(ScenarioErrors, DemandHeadsThatDivide) {
  EXPECT_EQ(ErrorOf(Small("heads: 4", "heads: 6, kv_heads: 4")),
            "s.yaml:6:39: error: model.heads: expected a divisor of hidden 64 (line 6), got 6\n"
            "  model: {layers: 2, hidden: 64, heads: 6, kv_heads: 4, vocabulary: 100}\n"
            "                                        ^\n"
            "s.yaml:6:52: error: model.kv_heads: expected a divisor of heads 6 (line 6), got 4\n"
            "  model: {layers: 2, hidden: 64, heads: 6, kv_heads: 4, vocabulary: 100}\n"
            "                                                     ^\n");
}

TEST(ScenarioErrors, HoldTheSequenceAgainstThePositions) {
  EXPECT_THAT(
      ErrorOf(Small("vocabulary: 100", "vocabulary: 100, max_positions: 64")),
      HasSubstr("training.sequence_length: expected at most the 64 positions that the model "
                "has learned (line 6), got 128\n"));
}

TEST(ScenarioErrors, RefuseSizesWhoseProductsWouldOverflow) {
  EXPECT_THAT(ErrorOf(Small("layers: 2, hidden: 64", "layers: 100000, hidden: 1048576")),
              HasSubstr("model: about 1.3e+18 parameters; expected at most 1e+14\n"));
  EXPECT_THAT(ErrorOf(Small("sequence_length: 128",
                            "sequence_length: 16777216\n  micro_batch_size: 1048576")),
              HasSubstr("bytes of activations a GPU"));
  EXPECT_THAT(
      ErrorOf(Small("layers: 2", "layers: 4"), {{"training.gradient_accumulation_steps", "65536"}}),
      HasSubstr(
          "4 layers (s.yaml:6) x 65536 micro-steps are 262144 passes through a layer; expected "
          "at most 15000, which take about 10 s and 2 GB to simulate\n"));
}

TEST(ScenarioErrors, RefuseLayersThatStagesCannotDivide) {
  const auto stages = [](const std::string& keys) {
    return ErrorOf(
        Small("zero:\n  stage: 3\n", "parallelism: {pipeline: 4" + keys + "}\nzero:\n  stage: 1\n"),
        {{"model.layers", "6"}, {"training.gradient_accumulation_steps", "8"}});
  };
  EXPECT_EQ(stages(", virtual_stages: 2"), "");
  EXPECT_EQ(stages(", layers_per_stage: [0, 3, 3, 0]"), "");
  EXPECT_THAT(stages(", virtual_stages: 3"),
              HasSubstr("error: parallelism.pipeline: expected at most 8 stages x virtual stages, "
                        "which the 6 layers (--set model.layers=6), the embedding and the head "
                        "fill, got 4 x 3\n"));
  EXPECT_THAT(
      stages(", layers_per_stage: [2, 2, 2]"),
      HasSubstr("error: parallelism.layers_per_stage: expected 4 numbers, one for each of 4 "
                "stages (line 9) x 1 virtual stages, got 3\n"));
  EXPECT_THAT(
      stages(", layers_per_stage: [2, 2, 2, 2]"),
      HasSubstr("error: parallelism.layers_per_stage: expected numbers that add up to the 6 "
                "layers (--set model.layers=6), got 8\n"));
  EXPECT_THAT(
      stages(", layers_per_stage: [3, 0, 2, 1]"),
      HasSubstr("error: parallelism.layers_per_stage: expected at least 1 layer between the "
                "first and the last number, got 0 at place 2\n"));
  EXPECT_THAT(stages(", layers_per_stage: [3, some, 2, 1]"),
              HasSubstr("error: parallelism.layers_per_stage[1]: expected a whole number from 0 to "
                        "100000, got \"some\"\n"));
  EXPECT_THAT(
      stages(", layers_per_stage: 2"),
      HasSubstr("error: parallelism.layers_per_stage: expected a list of whole numbers such "
                "as [7, 8, 8, 7], got \"2\"\n"));
}

// A pass through a stage is one operation where nothing in it overlaps.
TEST(ScenarioErrors, AllowMorePassesThroughThePassesOfAPipeline) {
  const std::string stages =
      Small("zero:\n  stage: 3\n", "parallelism: {pipeline: 2}\nzero:\n  stage: 1\n");
  EXPECT_EQ(ErrorOf(stages, {{"training.gradient_accumulation_steps", "60000"}}), "");
  EXPECT_THAT(
      ErrorOf(stages, {{"model.layers", "4"}, {"training.gradient_accumulation_steps", "60000"}}),
      HasSubstr("are 240000 passes through a layer; expected at most 150000, "));
}

TEST(ScenarioErrors, BoundWhatASimulationCosts) {
  EXPECT_EQ(ErrorOf(Small("layers: 2", "layers: 15000")), "");
  EXPECT_EQ(ErrorOf(Small("layers: 2", "layers: 15001")),
            "s.yaml:6:17: error: model.layers: 15001 layers x 1 micro-step (the default) are 15001 "
            "passes through a layer; expected at most 15000, which take about 10 s and 2 GB to "
            "simulate\n"
            "  model: {layers: 15001, hidden: 64, heads: 4, vocabulary: 100}\n"
            "                  ^\n");
}

TEST(ScenarioErrors, DemandAFabricOfTwoNodes) {
  EXPECT_EQ(
      ErrorOf(Small("  fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}\n", "")),
      "s.yaml:2:1: error: cluster.fabric: missing; more than one node needs one, such as "
      "{nics_per_node: 8, nic_bandwidth: 200 Gbps, latency: 5 us}, or a node whose NICs are known "
      "by cluster.node.nics and cluster.node.nic_bandwidth\n"
      "  cluster:\n"
      "  ^\n");
}

TEST(ScenarioErrors, SayThatThereIsOneStrategy) {
  EXPECT_EQ(ErrorOf(SmallScenario() + "optimizer: {}\n"
                                      "fsdp: {}\n"),
            "s.yaml:11:1: error: optimizer: no such key\n"
            "  optimizer: {}\n"
            "  ^\n"
            "s.yaml:12:1: error: fsdp: a scenario has one strategy, and \"zero\" is given too\n"
            "  fsdp: {}\n"
            "  ^\n");
}

TEST(ScenarioErrors, HoldAParameterWithinItsRange) {
  EXPECT_EQ(ErrorOf(Small("  nodes: 2\n",
                          "  nodes: 2\n  calibration: {nic_fraction: {value: 0.9, low: 0.95, hihg: "
                          "1}, host_hook: 3}\n")),
            "s.yaml:5:49: error: cluster.calibration.nic_fraction.low: expected at most value\n"
            "    calibration: {nic_fraction: {value: 0.9, low: 0.95, hihg: 1}, host_hook: 3}\n"
            "                                                  ^\n"
            "s.yaml:5:55: error: cluster.calibration.nic_fraction.hihg: no such key; did you mean "
            "\"high\"?\n"
            "    calibration: {nic_fraction: {value: 0.9, low: 0.95, hihg: 1}, host_hook: 3}\n"
            "                                                        ^\n"
            "s.yaml:5:76: error: cluster.calibration.host_hook: expected a duration such as \"5 "
            "us\", got \"3\"\n"
            "    calibration: {nic_fraction: {value: 0.9, low: 0.95, hihg: 1}, host_hook: 3}\n"
            "                                                                             ^\n");
}

// Relations that do not hold, between keys that each hold by themselves.
std::string BrokenRelations() {
  return "cluster:\n"                                                               // 1
         "  node: tiny_node\n"                                                      // 2
         "  nodes: 2\n"                                                             // 3
         "  fabric: {nics_per_node: 3}\n"                                           // 4
         "model: {layers: 4, hidden: 64, heads: 6, kv_heads: 4, vocabulary: 100, "  // 5
         "max_positions: 64}\n"                                                     //
         "training:\n"                                                              // 6
         "  sequence_length: 128\n"                                                 // 7
         "  gradient_accumulation_steps: 65536\n"                                   // 8
         "  global_batch_size: 1000\n"                                              // 9
         "zero: {stage: 3, secondary_partition_size: 3}\n";                         // 10
}

TEST(ScenarioErrors, OfFieldsComeWithThoseOfRelationsBetweenOthers) {
  EXPECT_EQ(ErrorOf(BrokenRelations(), {{"model.hidden", "wide"},
                                        {"training.gradient_accumulation_steps", "0"},
                                        {"compute.mfu", "2"},
                                        {"zero.stag", "3"}}),
            "s.yaml:4:27: error: cluster.fabric.nics_per_node: expected at most the 2 NICs of the "
            "node (cat/hardware/nodes/tiny_node.yaml:6), got 3\n"
            "    fabric: {nics_per_node: 3}\n"
            "                            ^\n"
            "s.yaml:5:52: error: model.kv_heads: expected a divisor of heads 6 (line 5), got 4\n"
            "  model: {layers: 4, hidden: 64, heads: 6, kv_heads: 4, vocabulary: 100, "
            "max_positions: 64}\n"
            "                                                     ^\n"
            "s.yaml:7:20: error: training.sequence_length: expected at most the 64 positions that "
            "the model has learned (line 5), got 128\n"
            "    sequence_length: 128\n"
            "                     ^\n"
            "s.yaml:10:44: error: zero.secondary_partition_size: expected a divisor of the 8 ranks "
            "(2 nodes (line 3) x 4 GPUs), got 3; nearest are 2 and 4\n"
            "  zero: {stage: 3, secondary_partition_size: 3}\n"
            "                                             ^\n"
            "--set model.hidden=wide: error: model.hidden: expected a whole number from 1 to "
            "1048576, got \"wide\"\n"
            "--set training.gradient_accumulation_steps=0: error: "
            "training.gradient_accumulation_steps: expected a whole number from 1 to 65536, got "
            "\"0\"\n"
            "--set zero.stag=3: error: zero.stag: no such key; did you mean \"stage\"?\n"
            "--set compute.mfu=2: error: compute.mfu: expected a number from 0.001 to 1, got "
            "\"2\"\n");
}

// A bad value silences the checks that need it, and no other.
TEST(ScenarioErrors, SilenceOnlyTheChecksThatNeedABadValue) {
  struct Relation {
    std::string says;
    std::set<std::string> needs;
  };
  const std::vector<Relation> relations = {
      {"cluster.fabric.nics_per_node: expected at most the 2 NICs",
       {"cluster.nodes", "cluster.node.nics", "cluster.fabric.nics_per_node"}},
      {"model.heads: expected a divisor of hidden 64", {"model.hidden", "model.heads"}},
      {"model.kv_heads: expected a divisor of heads 6", {"model.heads", "model.kv_heads"}},
      {"training.sequence_length: expected at most the 64 positions",
       {"model.position", "model.max_positions", "training.sequence_length"}},
      {"262144 passes through a layer", {"model.layers", "training.gradient_accumulation_steps"}},
      {"training.global_batch_size: expected 524288",
       {"cluster.nodes", "cluster.node.gpus", "training.micro_batch_size",
        "training.gradient_accumulation_steps", "training.global_batch_size"}},
      {"zero.secondary_partition_size: expected a divisor of the 8 ranks",
       {"cluster.nodes", "cluster.node.gpus", "zero.secondary_partition_size"}},
  };
  EXPECT_EQ(CountOf("error: ", ErrorOf(BrokenRelations())), relations.size());

  std::set<std::string> keys{"cluster.node", "cluster.fabric", "cluster",     "model",
                             "training",     "zero",           "compute.mfu", "name"};
  for (const Relation& relation : relations)
    keys.insert(relation.needs.begin(), relation.needs.end());
  for (const std::string& key : keys) {
    SCOPED_TRACE(key);
    // A list is bad for a key of any type.
    const std::string text = ErrorOf(BrokenRelations(), {{key, "[bad]"}});
    std::size_t expected = 1;
    for (const Relation& relation : relations) {
      const bool silenced = std::ranges::any_of(relation.needs, [&](const std::string& need) {
        return need == key || need.starts_with(key + ".");
      });
      if (!silenced) ++expected;
      EXPECT_EQ(CountOf(relation.says, text), silenced ? 0u : 1u) << relation.says << "\n" << text;
    }
    EXPECT_EQ(CountOf("error: ", text), expected) << text;
  }
}

TEST(ScenarioErrors, LeaveOutTheSumsOfAWorldThatIsTooLarge) {
  const std::string text = ErrorOf(BrokenRelations(), {{"cluster.nodes", "16777216"},
                                                       {"cluster.node.gpus", "1024"},
                                                       {"training.micro_batch_size", "1048576"}});

  EXPECT_THAT(text, HasSubstr("16777216 nodes x 1024 GPUs"));
  EXPECT_THAT(text, HasSubstr("cluster.fabric.nics_per_node: expected at most"));
  EXPECT_THAT(text, Not(HasSubstr("global_batch_size")));
  EXPECT_THAT(text, Not(HasSubstr("secondary_partition_size: ")));
}

// The default of a key that was perhaps meant is nothing to hold others against.
TEST(ScenarioErrors, TakeAnUnknownKeyForTheOneThatItMayMean) {
  const auto with = [](const std::string& key) {
    return ErrorOf(Small("  sequence_length: 128\n",
                         "  sequence_length: 128\n  " + key + ": 4\n  global_batch_size: 32\n"));
  };

  EXPECT_EQ(with("micro_batch_size"), "");
  EXPECT_EQ(with("micro_batch_siz"),
            "s.yaml:9:3: error: training.micro_batch_siz: no such key; did you mean "
            "\"micro_batch_size\"?\n"
            "    micro_batch_siz: 4\n"
            "    ^\n");
  EXPECT_EQ(with("samples"),
            "s.yaml:9:3: error: training.samples: no such key\n"
            "    samples: 4\n"
            "    ^\n");
}

TEST(ScenarioErrors, DrawNoConclusionsFromAKeyThatIsGivenTwice) {
  EXPECT_EQ(ErrorOf(BrokenRelations() + "model: {layers: 2}\n"
                                        "cluster: {nodes: 1}\n",
                    {{"training.global_batch_size", "8"}, {"zero.secondary_partition_size", "1"}}),
            "s.yaml:11:1: error: model: given twice in this section\n"
            "  model: {layers: 2}\n"
            "  ^\n"
            "s.yaml:12:1: error: cluster: given twice in this section\n"
            "  cluster: {nodes: 1}\n"
            "  ^\n");
}

TEST(ScenarioErrors, DrawNoConclusionsFromAnOptionThatCannotBeSet) {
  EXPECT_EQ(ErrorOf(Small("  sequence_length: 128\n",
                          "  sequence_length: 128\n  global_batch_size: 16\n"),
                    {{"cluster.nodes", ""}}),
            "--set cluster.nodes=: error: expected a value, got \"\"\n");
}

TEST(IncludeErrors, NameAMissingFileAndACircle) {
  EXPECT_EQ(ErrorOf("include: gone.yaml\n"),
            "s.yaml:1:10: error: include: gone.yaml: no such file\n"
            "  include: gone.yaml\n"
            "           ^\n");
  EXPECT_THAT(ErrorOf("include: b.yaml\n", {}, {{"b.yaml", "include: s.yaml\n"}}),
              HasSubstr("b.yaml:1:10: error: include: s.yaml includes itself by way of b.yaml\n"
                        "  include: s.yaml\n"
                        "           ^\n"));
  EXPECT_THAT(ErrorOf("include: ./s.yaml\n"), HasSubstr("s.yaml includes itself"));
}

TEST(IncludeErrors, BoundAChainOfFiles) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 30; ++i) {
    files["f" + std::to_string(i) + ".yaml"] = "include: f" + std::to_string(i + 1) + ".yaml\n";
  }

  EXPECT_THAT(
      ErrorOf("include: f0.yaml\n", {}, files),
      HasSubstr("f14.yaml:1:10: error: include: more than 16 files, each naming the next\n"));
}

TEST(CatalogErrors, ListWhatThereIs) {
  EXPECT_THAT(ErrorOf(Small("tiny_node", "cray")),
              HasSubstr("s.yaml:3:9: error: cluster.node: no node \"cray\" in the catalog; there "
                        "are tiny_node\n"));
  EXPECT_THAT(ErrorOf(Small("  nodes: 2\n", "  nodes: 2\n  calibration: x\n")),
              HasSubstr("cluster.calibration: no calibration \"x\" in the catalog; no "
                        "hardware/calibrations/ beside the scenario\n"));
}

TEST(CatalogErrors, TellWhatAFileOfTheCatalogIs) {
  const auto error = [](const std::string& path, const std::string& text) -> std::string {
    try {
      ReadScenarioText(text, path, {{"cluster.nodes", "2"}}, Catalog{{"cat"}},
                       MemoryFiles(SmallCatalog()));
      return "";
    } catch (const ScenarioError& e) {
      return e.what();
    }
  };

  for (const auto& [path, says] :
       std::map<std::string, std::string>{{"cat/hardware/nodes/tiny_node.yaml",
                                           "node, not a scenario; a scenario names it as "
                                           "\"cluster.node: tiny_node\""},
                                          {"cat/hardware/gpus/tiny_gpu.yaml",
                                           "GPU, not a scenario; a scenario names it as "
                                           "\"cluster.node.gpu: tiny_gpu\""},
                                          {"cat/models/tiny_model.yaml",
                                           "model, not a scenario; a scenario names it as \"model: "
                                           "tiny_model\""}}) {
    EXPECT_EQ(error(path, SmallCatalog().at(path)), path + ": error: this is a " + says + "\n");
  }
  EXPECT_EQ(error("mine.yaml", "name: mine\nnic_fraction: 0.9\n"),
            "mine.yaml: error: this is a calibration, not a scenario; a scenario names it as "
            "\"cluster.calibration: mine\", from a folder hardware/calibrations\n");
  // A scenario whose author knows no sections yet.
  EXPECT_THAT(error("s.yaml", "nodes: 2\ngpus: 4\nstage: 3\n"),
              HasSubstr("s.yaml:1:1: error: nodes: no such key"));
}

TEST(CatalogErrors, RefuseANameThatIsAPath) {
  EXPECT_THAT(
      ErrorOf(Small("tiny_node", "../../etc/passwd")),
      HasSubstr("cluster.node: expected the name of a node of the catalog or a section, got "
                "\"../../etc/passwd\"\n"));
}

TEST(CatalogErrors, NoticeABaseThatIsItsOwnBase) {
  EXPECT_THAT(
      ErrorOf(SmallScenario(), {}, {{"cat/hardware/nodes/tiny_node.yaml", "base: tiny_node\n"}}),
      HasSubstr("cat/hardware/nodes/tiny_node.yaml:1:7: error: cluster.node: "
                "cat/hardware/nodes/tiny_node.yaml includes itself by way of "
                "cat/hardware/nodes/tiny_node.yaml\n"));
}

TEST(OverrideErrors, AreAtTheOption) {
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"cluster.nodes", "many"}}),
            "--set cluster.nodes=many: error: cluster.nodes: expected a whole number from 1 to "
            "16777216, got \"many\"\n");
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"cluster.ndes", "4"}}),
            "--set cluster.ndes=4: error: cluster.ndes: no such key; did you mean \"nodes\"?\n");
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"cluster.nodes.x", "4"}}),
            "--set cluster.nodes.x=4: error: cluster.nodes has no keys below it\n");
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"cluster..x", "4"}}),
            "--set cluster..x=4: error: expected a key's path such as cluster.nodes=8\n");
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"zero.overlap", "{reduce: tru"}}),
            "--set zero.overlap={reduce: tru: error: expected a value such as 8 or {bits: 4}, got "
            "\"{reduce: tru\"\n");
  EXPECT_EQ(ErrorOf(SmallScenario(), {{"cluster.nodes", ""}}),
            "--set cluster.nodes=: error: expected a value, got \"\"\n");
}

TEST(ScenarioErrors, NameAFileThatIsNotThere) {
  try {
    ReadScenario("no/such.yaml", {}, {});
    FAIL() << "accepted";
  } catch (const ScenarioError& e) {
    EXPECT_STREQ(e.what(), "no/such.yaml: error: no such file\n");
  }
}

TEST(ScenarioErrors, OffloadSaysWhatItNeeds) {
  EXPECT_THAT(ErrorOf(SmallScenario() + "  offload_optimizer: {device: cpu}\n"),
              HasSubstr("s.yaml:11:3: error: zero.offload_optimizer: needs the rate of the node's "
                        "memory, at which the CPU's optimizer runs: "
                        "cluster.node.host_memory_bandwidth, such as 200 GB/s"));
  EXPECT_THAT(ErrorOf(SmallScenario() + "  offload_optimizer: {device: nvme}\n"),
              HasSubstr("zero.offload_optimizer.device: offload to NVMe is not modelled; cpu and "
                        "none are"));
  EXPECT_THAT(ErrorOf(SmallScenario() + "  offload_param: {device: nvme}\n"),
              HasSubstr("zero.offload_param.device: offload to NVMe is not modelled"));
  // Weights alone need no optimizer on the CPU.
  EXPECT_EQ(ErrorOf(SmallScenario() + "  offload_param: {device: cpu}\n"), "");
}

TEST(ScenarioErrors, OffloadOfFsdpNeedsNoSyncAndShards) {
  const std::vector<Override> set = {{"cluster.node.host_memory_bandwidth", "200 GB/s"},
                                     {"training.gradient_accumulation_steps", "2"}};
  const auto with = [](const std::string& fsdp) {
    return Small("zero:\n  stage: 3\n", "fsdp: " + fsdp + "\n");
  };
  EXPECT_THAT(ErrorOf(with("{offload: true}"), set),
              HasSubstr("fsdp.offload: expected no_sync: true with 2 micro-steps"));
  EXPECT_EQ(ErrorOf(with("{offload: true, no_sync: true}"), set), "");
  EXPECT_THAT(ErrorOf(with("{offload: true, no_sync: true, sharding: no_shard}"), set),
              HasSubstr("fsdp.offload: expected another sharding than no_shard"));
}

TEST(ScenarioErrors, FrozenWeightsAreKeptInOneWay) {
  EXPECT_THAT(ErrorOf(SmallScenario(), {{"training.lora", "true"},
                                        {"training.frozen_weights", "int4"},
                                        {"zero.quantized_nontrainable_weights", "true"}}),
              HasSubstr("zero.quantized_nontrainable_weights: keeps frozen weights in 8 bits, and "
                        "training.frozen_weights says int4"));
}

TEST(ScenarioWarnings, NameWhatOffloadDoesNot) {
  const auto warnings = [](const std::string& more) {
    std::string all;
    const std::vector<Override> set = {{"cluster.node.host_memory_bandwidth", "200 GB/s"}};
    for (const auto& w : ReadSmall(SmallScenario() + more, set).warnings) all += w + "\n";
    return all;
  };
  EXPECT_THAT(warnings("  offload_param: {device: cpu}\n  secondary_partition_size: node\n"),
              HasSubstr("issues 6889 and 6926"));
  EXPECT_THAT(warnings("  offload_optimizer: {ratio: 0.5}\n"),
              HasSubstr("zero.offload_optimizer.ratio: no effect without device: cpu"));
  EXPECT_EQ(warnings("  offload_optimizer: {device: cpu, ratio: 0.5}\n"), "");
}

}  // namespace
}  // namespace zerosim
