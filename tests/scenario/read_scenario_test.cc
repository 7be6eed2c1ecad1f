#include "models/scenario/read_scenario.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/small_scenario.h"

namespace zerosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ReadScenario, ReadsEverySectionOfASmallScenario) {
  const ReadResult read = ReadSmall(SmallScenario());

  const Scenario& s = read.scenario;
  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_EQ(s.name, "small");
  EXPECT_EQ(s.world_size(), 8);
  EXPECT_EQ(s.cluster.node.name, "tiny_node");  // of its file
  EXPECT_EQ(s.cluster.node.gpu.memory, Bytes::Count(16LL << 30));
  EXPECT_EQ(s.cluster.node.gpu.peak, FlopsPerSecond::TeraflopsPerSecond(100));
  EXPECT_EQ(s.cluster.fabric.nic_bandwidth, BytesPerSecond::GigabytesPerSecond(12.5));
  EXPECT_EQ(s.cluster.fabric.nics_per_node, 2);
  EXPECT_EQ(s.model.hidden, 64);
  EXPECT_EQ(s.training.sequence_length, 128);
  EXPECT_EQ(s.zero.stage, 3);
}

TEST(ReadScenario, TakesTheNodesNicsWhereTheNodeNamesTheirRate) {
  const auto fabric = [](const std::string& keys, const std::vector<Override>& set) {
    return ReadSmall(Small("nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us", keys), set)
        .scenario.cluster.fabric;
  };
  const std::vector<Override> named = {{"cluster.node.nic_bandwidth", "400 Gbps"}};
  const auto gigabits = &BytesPerSecond::GigabitsPerSecond;

  EXPECT_EQ(fabric("latency: 2 us", named).nic_bandwidth, gigabits(400));
  EXPECT_EQ(fabric("latency: 2 us", named).nics_per_node, 2);
  EXPECT_EQ(fabric("nic_bandwidth: 50 Gbps", named).nic_bandwidth, gigabits(50));
  EXPECT_EQ(fabric("nic_bandwidth: 50 Gbps", named).nics_per_node, 2);
  EXPECT_EQ(fabric("nics_per_node: 1", named).nic_bandwidth, gigabits(400));
  EXPECT_EQ(fabric("nics_per_node: 1", named).nics_per_node, 1);
  EXPECT_EQ(fabric("latency: 2 us", {}).nic_bandwidth, gigabits(100));
  EXPECT_EQ(fabric("latency: 2 us", {}).nics_per_node, 1);
}

TEST(ReadScenario, NeedsNoFabricWhereTheNodeNamesItsNics) {
  const Scenario s =
      ReadSmall(Small("  fabric: {nics_per_node: 2, nic_bandwidth: 100 Gbps, latency: 2 us}\n", ""),
                {{"cluster.node.nic_bandwidth", "400 Gbps"}})
          .scenario;

  EXPECT_EQ(s.cluster.fabric.nics_per_node, 2);
  EXPECT_EQ(s.cluster.fabric.nic_bandwidth, BytesPerSecond::GigabitsPerSecond(400));
  EXPECT_EQ(s.cluster.fabric.latency, Seconds::Micros(2));
}

TEST(ReadScenario, FillsInWhatFollowsFromOtherKeys) {
  const Scenario s = ReadSmall(SmallScenario()).scenario;

  EXPECT_EQ(s.model.kv_heads, 4);
  EXPECT_EQ(s.model.ffn_hidden, 256);
  EXPECT_EQ(s.model.max_positions, 128);
  EXPECT_EQ(s.cluster.calibration.nic_fraction.value, 1);
}

TEST(ReadScenario, TakesTheDefaultsThatTheStructsHave) {
  const Scenario s = ReadSmall(SmallScenario()).scenario;
  const ZeroConfig zero;
  const ComputeSpec compute;

  EXPECT_EQ(s.zero.prefetch_bucket_size, zero.prefetch_bucket_size);
  EXPECT_EQ(s.zero.max_live_parameters, zero.max_live_parameters);
  EXPECT_EQ(s.zero.max_reuse_distance, zero.max_reuse_distance);
  EXPECT_EQ(s.zero.param_persistence_threshold, zero.param_persistence_threshold);
  EXPECT_EQ(s.zero.reduce_bucket_size, zero.reduce_bucket_size);
  EXPECT_EQ(s.zero.allgather_bucket_size, zero.allgather_bucket_size);
  EXPECT_EQ(s.zero.contiguous_gradients, zero.contiguous_gradients);
  EXPECT_EQ(s.zero.overlap_comm, zero.overlap_comm);
  EXPECT_EQ(s.zero.secondary_partition_size, zero.secondary_partition_size);
  EXPECT_EQ(s.zero.secondary_rule, zero.secondary_rule);
  EXPECT_EQ(s.zero.gradient_collective, zero.gradient_collective);
  EXPECT_EQ(s.zero.overlap.gather_forward, zero.overlap.gather_forward);
  EXPECT_EQ(s.zero.overlap.gather_backward, zero.overlap.gather_backward);
  EXPECT_EQ(s.zero.overlap.reduce, zero.overlap.reduce);
  EXPECT_EQ(s.zero.overlap.quantized_reduce, zero.overlap.quantized_reduce);
  EXPECT_FALSE(s.zero.quantized_weights || s.zero.quantized_gradients);
  EXPECT_EQ(s.compute.mfu, compute.mfu);
  EXPECT_EQ(s.compute.flash_attention, compute.flash_attention);
  EXPECT_EQ(s.compute.causal_skip, compute.causal_skip);
  EXPECT_EQ(s.compute.recompute_skips_last, compute.recompute_skips_last);
  EXPECT_EQ(s.compute.memory_passes, compute.memory_passes);
  EXPECT_EQ(s.compute.loss_bytes, compute.loss_bytes);
  EXPECT_EQ(s.algorithm, CollectiveAlgorithm::kRing);
}

TEST(ReadScenario, ReadsTheFormsOfZeroPlusPlus) {
  const auto zero_of = [](const std::string& keys) {
    return ReadSmall(SmallScenario() + keys).scenario.zero;
  };

  EXPECT_EQ(zero_of("  quantized_weights: true\n").quantized_weights->bits, 8);
  EXPECT_EQ(zero_of("  quantized_gradients: true\n").quantized_gradients->in_node.bits, 4);
  EXPECT_EQ(
      zero_of("  quantized_weights: {bits: 4, group_size: 512}\n").quantized_weights->group_size,
      512);
  const GradientQuantization g =
      *zero_of("  quantized_gradients: {bits: 8, between_nodes_bits: 4, hops: 1}\n")
           .quantized_gradients;
  EXPECT_EQ(g.in_node.bits, 8);
  EXPECT_EQ(g.between_nodes.bits, 4);
  EXPECT_FALSE(g.two_hops);
  EXPECT_EQ(zero_of("  secondary_partition_size: node\n").secondary_partition_size, 4);
  EXPECT_EQ(zero_of("  secondary_partition_size: 2\n").secondary_partition_size, 2);
}

TEST(ReadScenario, ReadsParametersWithAndWithoutRange) {
  const std::string text =
      Small("  nodes: 2\n",
            "  nodes: 2\n  calibration: {nic_fraction: 0.9, nic_step_latency: {value: 3 us, low: 2 "
            "us, source: \"a log\"}}\n");

  const Calibration c = ReadSmall(text).scenario.cluster.calibration;

  EXPECT_EQ(c.nic_fraction.value, 0.9);
  EXPECT_EQ(c.nic_fraction.low, 0.9);
  EXPECT_EQ(c.nic_step_latency.value, Seconds::Micros(3).seconds());
  EXPECT_EQ(c.nic_step_latency.low, Seconds::Micros(2).seconds());
  EXPECT_EQ(c.nic_step_latency.high, c.nic_step_latency.value);
  EXPECT_EQ(c.nic_step_latency.source, "a log");
}

TEST(ReadScenario, PutsKeysInPlaceOverThoseOfABase) {
  const Scenario s = ReadSmall(Small("node: tiny_node",
                                     "node: {base: tiny_node, gpus: 8, gpu: "
                                     "{memory: 8 GiB}}"))
                         .scenario;

  EXPECT_EQ(s.world_size(), 16);
  EXPECT_EQ(s.cluster.node.nics, 2);                              // of tiny_node
  EXPECT_EQ(s.cluster.node.gpu.memory, Bytes::Count(8LL << 30));  // in place
  EXPECT_EQ(s.cluster.node.gpu.name, "tiny_gpu");                 // of tiny_node's gpu
}

TEST(ReadScenario, PutsItsOwnKeysOverIncludedOnes) {
  const std::string text = "include: sub/../base.yaml\nname: mine\ncluster: {nodes: 4}\n";

  const Scenario s = ReadSmall(text, {}, {{"base.yaml", SmallScenario()}}).scenario;

  EXPECT_EQ(s.name, "mine");
  EXPECT_EQ(s.cluster.nodes, 4);
  EXPECT_EQ(s.cluster.fabric.nics_per_node, 2);  // sections merge key by key
}

TEST(ReadScenario, FindsTheCatalogBesideTheScenarioFirst) {
  auto files = SmallCatalog();
  files["a/models/tiny_model.yaml"] = "layers: 7\nhidden: 32\nheads: 2\nvocabulary: 50\n";
  const std::string text =
      Small("model: {layers: 2, hidden: 64, heads: 4, vocabulary: 100}", "model: tiny_model");

  const Catalog catalog{{"cat"}};
  const auto layers = [&](const std::string& path) {
    return ReadScenarioText(text, path, {}, catalog, MemoryFiles(files)).scenario.model.layers;
  };

  EXPECT_EQ(layers("a/s.yaml"), 7);
  EXPECT_EQ(layers("a/studies/s.yaml"), 7);  // of the folder above
  EXPECT_EQ(layers("b/s.yaml"), 3);          // of the catalog
}

TEST(Override, SetsACreatesAndReachesIntoTheCatalog) {
  const Scenario s = ReadSmall(SmallScenario(), {{"cluster.nodes", "8192"},
                                                 {"zero.overlap.reduce", "false"},
                                                 {"zero.quantized_gradients", "{bits: 8}"},
                                                 {"cluster.node.gpu.memory", "40 GB"},
                                                 {"model", "tiny_model"}})
                         .scenario;

  EXPECT_EQ(s.world_size(), 32768);
  EXPECT_FALSE(s.zero.overlap.reduce);
  EXPECT_EQ(s.zero.quantized_gradients->in_node.bits, 8);
  EXPECT_EQ(s.cluster.node.gpu.memory, Bytes::Count(40'000'000'000));
  EXPECT_EQ(s.cluster.node.gpus, 4);
  EXPECT_EQ(s.model.layers, 3);
}

TEST(Override, GivesABareTrueItsKeys) {
  const Scenario s = ReadSmall(SmallScenario() + "  quantized_weights: true\n",
                               {{"zero.quantized_weights.bits", "4"}})
                         .scenario;

  EXPECT_EQ(s.zero.quantized_weights->bits, 4);
}

TEST(CanonicalText, DependsOnValuesOnly) {
  const std::string reordered =
      "zero: {stage: 3}\ntraining: {sequence_length: 128}  # a comment\n"
      "model: {heads: 4, layers: 2, vocabulary: 100, hidden: 64}\nname: small\n"
      "cluster:\n  fabric: {latency: 2 us, nics_per_node: 2, nic_bandwidth: 100 Gbps}\n"
      "  nodes: 2\n  node: tiny_node\n";

  EXPECT_EQ(ReadSmall(reordered).canonical_text, ReadSmall(SmallScenario()).canonical_text);
}

TEST(CanonicalText, ChangesWithTheCatalog) {
  const std::map<std::string, std::string> other = {
      {"cat/hardware/gpus/tiny_gpu.yaml",
       "memory: 17 GiB\npeak: 100 TFLOP/s\nmemory_bandwidth: 1 TB/s\n"}};

  EXPECT_THAT(ReadSmall(SmallScenario()).canonical_text,
              HasSubstr("cluster.node.gpu.memory = \"16 GiB\"\n"));
  EXPECT_NE(ReadSmall(SmallScenario(), {}, other).canonical_text,
            ReadSmall(SmallScenario()).canonical_text);
}

TEST(CanonicalText, CannotBeForgedByALineBreak) {
  EXPECT_THAT(ReadSmall(Small("name: small", "name: \"a\\nzero.stage = 2\"")).canonical_text,
              HasSubstr("name = \"a\\nzero.stage = 2\"\n"));
}

// Warnings of SmallScenario with `keys` appended to its last section, zero.
std::vector<std::string> WarningsOf(const std::string& keys) {
  return ReadSmall(SmallScenario() + keys).warnings;
}

// The same with fsdp in its place.
std::vector<std::string> FsdpWarningsOf(const std::string& keys) {
  return ReadSmall(Small("zero:\n  stage: 3\n", "fsdp:\n  sharding: full_shard\n") + keys).warnings;
}

TEST(Warnings, NameKeysOfOtherStages) {
  EXPECT_THAT(WarningsOf("  allgather_bucket_size: 1e8\n"),
              ElementsAre("s.yaml:11:3: warning: zero.allgather_bucket_size: no effect in stage 3; "
                          "it belongs to stages 1 and 2"));
  EXPECT_THAT(ReadSmall(Small("stage: 3",
                              "stage: 2\n  secondary_partition_size: node\n  "
                              "quantized_gradients: true"))
                  .warnings,
              ElementsAre("s.yaml:11:3: warning: zero.secondary_partition_size: no effect in stage "
                          "2; it belongs to stage 3",
                          "s.yaml:12:3: warning: zero.quantized_gradients: no effect in stage 2; "
                          "it belongs to stage 3, or to stages 1 and 2 with "
                          "quantized_weight_differences"));
  EXPECT_THAT(WarningsOf("  quantized_weight_differences: true\n"),
              ElementsAre("s.yaml:11:3: warning: zero.quantized_weight_differences: no effect in "
                          "stage 3; it belongs to stages 1 and 2"));
}

TEST(Warnings, AcceptQuantizedGradientsBesideWeightDifferences) {
  const auto warnings = [](const char* more) {
    return ReadSmall(
               Small("stage: 3", std::string("stage: 1\n  quantized_weight_differences: true\n"
                                             "  quantized_gradients: true") +
                                     more))
        .warnings;
  };
  EXPECT_THAT(warnings(""), ElementsAre());
  EXPECT_THAT(warnings("\n  gradient_collective: reduce_scatter"),
              ElementsAre("s.yaml:13:3: warning: zero.gradient_collective: no effect with "
                          "quantized_gradients"));
}

TEST(Warnings, SayWhatASecondaryGroupOfAllRanksCosts) {
  const std::string costs =
      "s.yaml:11:3: warning: zero.secondary_partition_size: a group of all 8 ranks gathers over "
      "the links that it would without hpZ, and its shard costs memory; \"node\" keeps backward "
      "gathers in the node";

  EXPECT_THAT(WarningsOf("  secondary_partition_size: 8\n"), ElementsAre(costs));
  EXPECT_THAT(WarningsOf("  secondary_partition_size: 4\n"), IsEmpty());
  EXPECT_THAT(
      ReadSmall(Small("nodes: 2", "nodes: 1"), {{"zero.secondary_partition_size", "node"}})
          .warnings,
      ElementsAre("s.yaml:5:3: warning: cluster.fabric: no effect with one node",
                  "--set zero.secondary_partition_size=node: warning: "
                  "zero.secondary_partition_size: gains nothing with one node, whose weights never "
                  "leave it, and costs the memory of a second shard (4886; DeepSpeedExamples 613, "
                  "717)"));
}

TEST(Warnings, SayThatPcieIsNotModeledYet) {
  EXPECT_THAT(
      ReadSmall(SmallScenario(), {{"cluster.node.in_node", "pcie"}}).warnings,
      ElementsAre("--set cluster.node.in_node=pcie: warning: cluster.node.in_node: no effect yet; "
                  "pcie is computed like nvswitch, each GPU with its whole gpu_bandwidth"));
  EXPECT_THAT(ReadSmall(SmallScenario(), {{"cluster.node.in_node", "nvswitch"}}).warnings,
              IsEmpty());
}

TEST(Warnings, NameKeysThatOtherKeysMakeIdle) {
  EXPECT_THAT(WarningsOf("  secondary_rule: once_per_micro_step\n"),
              ElementsAre("s.yaml:11:3: warning: zero.secondary_rule: no effect without "
                          "secondary_partition_size"));
  EXPECT_THAT(WarningsOf("compute: {mfu: 0.4, loss_bytes: 8}\n"),
              ElementsAre("s.yaml:11:21: warning: compute.loss_bytes: no effect on times with "
                          "compute.mfu"));
}

TEST(Warnings, AreNotGivenForAKeyThatAsksForNothing) {
  EXPECT_THAT(ReadSmall(Small("stage: 3",
                              "stage: 1\n  quantized_weights: false\n  "
                              "secondary_partition_size: 1"))
                  .warnings,
              IsEmpty());
}

TEST(Warnings, SayThatOneNodeHasNoNetwork) {
  EXPECT_THAT(ReadSmall(Small("nodes: 2", "nodes: 1") + "  quantized_gradients: true\n").warnings,
              ElementsAre("s.yaml:5:3: warning: cluster.fabric: no effect with one node",
                          "s.yaml:11:24: warning: zero.quantized_gradients: no effect with one "
                          "node: DeepSpeed quantises gradients on several nodes only (4886)"));
}

TEST(Warnings, SayThatGradientsAreNotQuantizedInShardsOfOneNode) {
  const std::string why =
      ": no effect where the ranks of a shard lie in one node; gradients then travel unquantised";

  EXPECT_THAT(
      WarningsOf("  quantized_gradients: true\n  shard_size: node\n"
                 "  overlap: {quantized_reduce: true, reduce: false}\n"),
      ElementsAre("s.yaml:11:3: warning: zero.quantized_gradients" + why,
                  "s.yaml:11:24: warning: zero.quantized_gradients: DeepSpeed sums over all "
                  "GPUs of the nodes (utils/groups.py), not over the ranks of shard_size; "
                  "computed over the latter, which it does not do",
                  "s.yaml:13:13: warning: zero.overlap.quantized_reduce" + why));
  EXPECT_THAT(FsdpWarningsOf("  quantized_gradients: true\n  shard_size: node\n"
                             "  reduce_precision: fp32\n"),
              ElementsAre("s.yaml:11:3: warning: fsdp.quantized_gradients" + why));
  EXPECT_THAT(FsdpWarningsOf("  quantized_gradients: true\n"), IsEmpty());
}

TEST(Warnings, SayWhatASecondaryGroupOfAllRanksOfAShardCosts) {
  const std::string shard =
      ".secondary_partition_size: a group of all 4 ranks of a shard gathers over the links that it "
      "would without hpZ, and its shard costs memory";

  EXPECT_THAT(WarningsOf("  shard_size: node\n  secondary_partition_size: node\n"),
              ElementsAre("s.yaml:12:3: warning: zero" + shard));
  EXPECT_THAT(FsdpWarningsOf("  shard_size: node\n  secondary_partition_size: node\n"),
              ElementsAre("s.yaml:12:3: warning: fsdp" + shard));
  EXPECT_THAT(FsdpWarningsOf("  secondary_partition_size: 8\n"),
              ElementsAre("s.yaml:11:3: warning: fsdp.secondary_partition_size: a group of all 8 "
                          "ranks gathers over the links that it would without hpZ, and its shard "
                          "costs memory; \"node\" keeps backward gathers in the node"));
  EXPECT_THAT(FsdpWarningsOf("  secondary_partition_size: 4\n"), IsEmpty());
}

TEST(Warnings, NameAnFsdpUnitOfMoreBlocksThanThereAre) {
  EXPECT_THAT(FsdpWarningsOf("  blocks_per_unit: 2\n"), IsEmpty());
  EXPECT_THAT(FsdpWarningsOf("  blocks_per_unit: 3\n"),
              ElementsAre("s.yaml:11:3: warning: fsdp.blocks_per_unit: no effect beyond the 2 "
                          "layers of the model"));
}

TEST(Warnings, SayThatSelectiveCheckpointingSavesNothingOfFusedAttention) {
  const std::vector<Override> selective{{"training.activation_checkpointing", "selective"}};
  std::vector<Override> fused = selective;
  fused.push_back({"cluster.node.gpu.attention",
                   "[{head_dimension: 64, rate: 50 TFLOP/s, half_sequence: 100}]"});

  EXPECT_THAT(ReadSmall(SmallScenario(), selective).warnings, IsEmpty());
  EXPECT_THAT(
      ReadSmall(SmallScenario(), fused).warnings,
      ElementsAre(
          "--set training.activation_checkpointing=selective: warning: "
          "training.activation_checkpointing: selective runs attention again for the "
          "scores that fused attention does not keep: it costs time and saves almost no memory; "
          "full saves memory, none time"));
  fused.push_back({"compute.flash_attention", "false"});
  EXPECT_THAT(ReadSmall(SmallScenario(), fused).warnings, IsEmpty());
}

TEST(ReadScenario, ReadsAdaptersAndHowFrozenWeightsAreKept) {
  const auto lora = [](const std::vector<Override>& set) {
    return ReadSmall(SmallScenario(), set).scenario.model.lora;
  };
  EXPECT_FALSE(lora({}).has_value());
  EXPECT_FALSE(lora({{"training.lora", "false"}}).has_value());
  EXPECT_EQ(lora({{"training.lora", "true"}})->rank, 16);
  const auto given = lora(
      {{"training.lora", "{rank: 8, targets: query_value}"}, {"training.frozen_weights", "int4"}});
  EXPECT_EQ(given->rank, 8);
  EXPECT_EQ(given->targets, LoraTargets::kQueryValue);
  EXPECT_EQ(given->frozen_bits, 4);
  const Override mixz = {"zero.quantized_nontrainable_weights", "true"};
  EXPECT_EQ(lora({{"training.lora", "true"}, mixz})->frozen_bits, 8);
  EXPECT_EQ(lora({{"training.lora", "true"}, mixz, {"zero.stage", "2"}})->frozen_bits, 16);
}

TEST(ReadScenario, WarnsOfFrozenWeightsWhereNoneAre) {
  const auto warnings = [](const std::vector<Override>& set) {
    return ReadSmall(SmallScenario(), set).warnings;
  };
  EXPECT_THAT(warnings({{"training.frozen_weights", "int8"}}),
              testing::ElementsAre(testing::HasSubstr(
                  "training.frozen_weights: no effect without training.lora: nothing is frozen")));
  EXPECT_THAT(warnings({{"training.frozen_weights", "16bit"}}), testing::IsEmpty());
  EXPECT_THAT(warnings({{"training.lora", "true"},
                        {"zero.quantized_nontrainable_weights", "true"},
                        {"zero.stage", "2"}}),
              testing::Contains(testing::HasSubstr("no effect in stage 2")));
}

}  // namespace
}  // namespace zerosim
