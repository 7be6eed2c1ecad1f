// SimGrid itself loads what is exported for it, and has the same routes. Each in a child, since a
// process has one engine.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>

#include "models/topology/loads.h"
#include "models/topology_files/simgrid_xml.h"
#include "tests/sim/child.h"
#include "tests/topology_files/exported_clusters.h"

namespace zerosim {
namespace {

namespace s4u = simgrid::s4u;

// Hosts, and of the route from the first to the last one the narrowest rate (B/s), the latency (s)
// and the links.
struct Loaded {
  double hosts = 0;
  double rate = 1e300;
  double latency = 0;
  double links = 0;
};

Loaded Load(const std::string& path) {
  const std::vector<double> values = InChild([&] {
    int argc = 2;
    std::string name = "test";
    std::string quiet = "--log=root.threshold:error";
    char* argv[] = {name.data(), quiet.data(), nullptr};
    const s4u::Engine engine(&argc, argv);
    engine.load_platform(path);
    engine.seal_platform();  // without it Dijkstra's zones abort
    const std::string last = "node" + std::to_string(engine.get_host_count() - 1);
    std::vector<s4u::Link*> links;
    double latency = 0;
    engine.host_by_name("node0")->route_to(engine.host_by_name(last), links, &latency);
    double rate = 1e300;
    for (const s4u::Link* link : links) rate = std::min(rate, link->get_bandwidth());
    return std::vector{static_cast<double>(engine.get_host_count()), rate, latency,
                       static_cast<double>(links.size())};
  });
  if (values.size() != 4) return {};
  return {values[0], values[1], values[2], values[3]};
}

TEST(SimgridExport, IsLoadedBySimgrid) {
  struct Expected {
    const char* name;
    double rate;  // GB/s
    double latency_us;
    double links;
  };
  // By hand: up and down, a level more for each of a tree, a hop in each dimension of the torus.
  const Expected all[] = {{"switch", 12.5, 2, 2},    {"shared_switch", 12.5, 2, 3},
                          {"fat_tree", 12.5, 4, 4},  {"thin_fat_tree", 6.25, 6, 6},
                          {"dragonfly", 12.5, 5, 5}, {"torus", 12.5, 3, 3},
                          {"graph", 6.25, 5, 3}};
  const std::vector<ExportedCluster> clusters = ExportedClusters();
  ASSERT_EQ(clusters.size(), std::size(all));
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const std::string path = testing::TempDir() + "zerosim_export_" + clusters[i].name + ".xml";
    std::ofstream(path) << ExportSimgrid(clusters[i].name, clusters[i].cluster).xml;
    const Loaded loaded = Load(path);
    std::remove(path.c_str());
    EXPECT_EQ(clusters[i].name, all[i].name);
    EXPECT_EQ(loaded.hosts, clusters[i].cluster.nodes) << all[i].name;
    EXPECT_NEAR(loaded.rate, 1e9 * all[i].rate, 1) << all[i].name;
    EXPECT_NEAR(loaded.latency, 1e-6 * all[i].latency_us, 1e-12) << all[i].name;
    EXPECT_EQ(loaded.links, all[i].links) << all[i].name;
  }
}

}  // namespace
}  // namespace zerosim
