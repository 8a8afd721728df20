#include "pipeline/mapping.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pipeline/draw.h"

namespace crossover::pipeline {
namespace {

std::string ErrorOfCluster(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ReadServers(text, "c", &error)) << text;
  return error;
}

TEST(Servers, AreRead) {
  std::string error;
  const auto servers = ReadServers(
      R"({"servers": [{"name": "a", "gpus": 8, "speed": 0.5, "gpu_memory_gib": 80, "inner_gbit": 8,
                       "network_gbit": 1, "inner_latency_us": 5, "network_latency_us": 20,
                       "node": "n"},
                      {"name": "b", "gpus": 1}]})",
      "c", &error);
  ASSERT_TRUE(servers) << error;
  EXPECT_EQ((*servers)[0], (Server{.name = "a",
                                   .node = "n",
                                   .gpus = 8,
                                   .speed = 0.5,
                                   .memory = std::uint64_t{80} << 30,
                                   .inner_bytes_per_second = 1e9,
                                   .network_bytes_per_second = 1.25e8,
                                   .inner_latency = 5'000,
                                   .network_latency = 20'000}));
  EXPECT_EQ((*servers)[1], (Server{.name = "b"}));
}

TEST(Servers, WhatIsWrongIsNamed) {
  EXPECT_EQ(ErrorOfCluster("x"), "c:1:1: content: expected JSON that can be parsed, got x");
  EXPECT_EQ(ErrorOfCluster(""), "c:1:1: content: expected JSON that can be parsed, got the end of the file");
  EXPECT_EQ(ErrorOfCluster("{\"servers\":\n[,"), "c:2:2: content: expected JSON that can be parsed, got [,");
  EXPECT_EQ(ErrorOfCluster("[]"), "c: content: expected an object with servers, got array");
  EXPECT_EQ(ErrorOfCluster("{}"), "c: servers: expected a list, got none");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": {}})"), "c: servers: expected a list, got object");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [], "nodes": []})"), "c: key: expected servers, got nodes");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": []})"), "c: servers: expected from 1 to 1000, got 0");
  std::string many = "3";
  for (int server = 1; server < 1'002; ++server) many += ",3";
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [)" + many + "]}"),
            "c: servers: expected from 1 to 1000, got 1002");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"name": "a", "gpus": 1, "node": ""}]})"),
            "c: servers[0]: node: expected a name, got \"\"");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [3]})"), "c: servers[0]: server: expected an object, got 3");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"gpus": 1}]})"),
            "c: servers[0]: name: expected a name, got none");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"name": "a"}]})"),
            "c: servers[0]: gpus: expected a whole number from 1 to 1024, got none");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"name": "a", "gpus": 1.5}]})"),
            "c: servers[0]: gpus: expected a whole number from 1 to 1024, got 1.5");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"name": "a", "gpus": 1, "speed": 0}]})"),
            "c: servers[0]: speed: expected a number from 0.001 to 1000, got 0");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"name": "a", "gpus": 1, "gpu": 1}]})"),
            "c: servers[0]: key: expected name, node, gpus, speed, gpu_memory_gib, inner_gbit, network_gbit, "
            "inner_latency_us or network_latency_us, got gpu");
  EXPECT_EQ(ErrorOfCluster(R"({"servers": [{"name": "a", "gpus": 1}, {"name": "a", "gpus": 1}]})"),
            "c: servers[1]: name: expected a name that no other server has, got a");
}

// All orders of all servers are tried, and each division of each.
TEST(Map, FindsTheBestOrderOfServers) {
  Draw draw(5);
  int best = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    Problem problem = draw.AProblem(9, 4);
    const int stages = static_cast<int>(problem.devices.size());
    std::vector<Server> servers;
    for (int gpus = 0; gpus < stages;) {
      Server server;
      server.name = "s" + std::to_string(servers.size());
      server.gpus = draw.From(1, 2);
      server.speed = draw.From(1, 2) / 2.0;
      server.network_latency = draw.From(0, 40);
      gpus += server.gpus;
      servers.push_back(server);
    }
    Time least = kNever;
    std::vector<Server> order = servers;
    const auto by_name = [](const Server& a, const Server& b) { return a.name < b.name; };
    do {
      std::vector<Device> devices;
      for (std::size_t s = 0; s < order.size(); ++s) {
        for (int gpu = 0; gpu < order[s].gpus; ++gpu) {
          Device device{.speed = order[s].speed};
          if (gpu + 1 == order[s].gpus && s + 1 < order.size())
            device.latency = std::max(order[s].network_latency, order[s + 1].network_latency);
          devices.push_back(device);
        }
      }
      devices.resize(static_cast<std::size_t>(stages));
      Problem trial = problem;
      trial.devices = devices;
      EachDivision(problem.blocks.size(), devices.size(), [&](const std::vector<std::size_t>& borders) {
        least = std::min(least, TimeOf(trial, borders));
      });
    } while (std::ranges::next_permutation(order, by_name).found);
    const auto found = Map(problem, servers, stages);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->seats.size(), static_cast<std::size_t>(stages));
    EXPECT_GE(found->division.time, least) << "else its devices are not those of the servers";
    EXPECT_LE(static_cast<double>(found->division.time), 1.02 * static_cast<double>(least))
        << "round " << round;
    best += found->division.time == least;
  }
  EXPECT_GE(best, kRounds * 9 / 10);
}

// There are more orders of twelve unlike servers than are looked at.
TEST(Map, OfManyUnlikeServersItTakesTheFastOnes) {
  Problem problem;
  problem.blocks.resize(8);
  for (Block& block : problem.blocks) block.forward = block.backward = 1'000;
  problem.microbatches = 16;
  std::vector<Server> servers;
  for (int i = 0; i < 12; ++i) {
    Server server;
    server.name = "s" + std::to_string(i);
    server.speed = 0.1 * (1 + (i * 5) % 12);
    servers.push_back(server);
  }
  const auto found = Map(problem, servers, 4);
  ASSERT_TRUE(found);
  for (const Device& device : found->problem.devices) EXPECT_GT(device.speed, 0.85);
}

// With several chunks on each GPU the last GPU sends to the first one.
TEST(Map, TheLastGpuIsLinkedToTheFirst) {
  Problem problem;
  problem.blocks.resize(4);
  problem.kind = Kind::kInterleaved;
  problem.chunks_per_device = 2;
  problem.microbatches = 2;
  const Server a{.name = "a", .inner_latency = 5, .network_latency = 30};
  const Server b{.name = "b", .inner_latency = 5, .network_latency = 20};
  const auto found = Map(problem, {a, b}, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problem.devices[0].latency, 30);
  EXPECT_EQ(found->problem.devices[1].latency, 30);
  const Server c{.name = "c", .gpus = 2, .inner_latency = 5, .network_latency = 30};
  const auto alone = Map(problem, {c}, 2);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->problem.devices[1].latency, 5);
}

// Returns a server for each model, H100 and A100, on each of so many nodes.
std::vector<Server> UnlikeNodes(int nodes) {
  std::vector<Server> servers;
  for (int n = 0; n < nodes; ++n) {
    for (const bool fast : {true, false}) {
      Server server{.name = (fast ? "h" : "a") + std::to_string(n), .node = "n" + std::to_string(n)};
      server.speed = fast ? 1 : 0.5;
      server.inner_latency = fast ? 5 : 7;
      server.inner_bytes_per_second = fast ? 4e9 : 0;
      server.network_latency = 1'000;
      servers.push_back(server);
    }
  }
  return servers;
}

Problem ProblemFor(std::size_t stages) {
  Problem problem;
  problem.blocks.resize(2 * stages);
  for (Block& block : problem.blocks) block.forward = block.backward = 1'000;
  problem.microbatches = static_cast<int>(2 * stages);
  return problem;
}

// With six nodes there are more orders than are looked at.
TEST(Map, ServersOfANodeFollowEachOther) {
  for (const int nodes : {2, 6}) {
    const std::vector<Server> servers = UnlikeNodes(nodes);
    const auto found = Map(ProblemFor(servers.size()), servers, 2 * nodes);
    ASSERT_TRUE(found);
    int crossed = 0;
    for (std::size_t d = 0; d + 1 < found->problem.devices.size(); ++d) {
      const Device& device = found->problem.devices[d];
      crossed += device.latency == 1'000;
      if (device.latency == 1'000) continue;
      EXPECT_EQ(device.latency, 7) << "that of the slower one";
      EXPECT_EQ(device.bytes_per_second, 4e9) << "the other one has no limit";
    }
    EXPECT_EQ(crossed, nodes - 1) << nodes;
  }
}

// A transfer that is hidden costs nothing, and still takes the network.
TEST(Map, NoNodeIsLeftAndEnteredAgain) {
  Draw draw(3);
  for (int round = 0; round < 40; ++round) {
    Problem problem = draw.AProblem(9, 4);
    std::vector<Server> servers = UnlikeNodes(2);
    for (Server& server : servers) server.network_latency = server.inner_latency = draw.From(0, 3);
    const auto stages = static_cast<int>(problem.devices.size());
    const auto found = Map(problem, servers, stages);
    ASSERT_TRUE(found);
    std::string nodes;
    for (const Seat& seat : found->seats) nodes += seat.server.back();
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    EXPECT_LE(nodes.size(), 2u) << nodes;
  }
}

// To stay on a node must not mean to take its slow GPUs.
TEST(Map, OfUnlikeNodesItTakesTheFastGpus) {
  for (const int nodes : {2, 6}) {
    const auto found = Map(ProblemFor(2), UnlikeNodes(nodes), 2);
    ASSERT_TRUE(found);
    for (const Device& device : found->problem.devices) EXPECT_EQ(device.speed, 1) << nodes;
  }
}

TEST(Map, AloneOnANodeIsAsWithoutOne) {
  std::vector<Server> servers;
  for (int i = 0; i < 9; ++i)
    servers.push_back({.name = std::to_string(i), .node = std::to_string(i), .network_latency = 9});
  const auto found = Map(ProblemFor(9), servers, 9);
  ASSERT_TRUE(found);
  for (std::size_t d = 0; d < 9; ++d)
    EXPECT_EQ(found->seats[d].server, std::to_string(d)) << "they are alike";
  EXPECT_EQ(found->problem.devices[0].latency, 9);
}

TEST(Map, TooFewGpusOrTooLittleMemoryIsNoMapping) {
  Problem problem;
  problem.blocks.resize(4);
  for (Block& block : problem.blocks) block.parameter_bytes = 100;
  Server server;
  server.name = "a";
  server.gpus = 2;
  EXPECT_TRUE(Map(problem, {server}, 2));
  EXPECT_FALSE(Map(problem, {server}, 3));
  server.memory = 799;
  EXPECT_FALSE(Map(problem, {server}, 2));
}

}  // namespace
}  // namespace crossover::pipeline
