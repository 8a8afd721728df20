// Chooses which GPU of a cluster has which stage of a pipeline, if servers differ in speed and links. Pure.
//
// The stages follow each other through the GPUs of one server, and then through those of the next: each
// further way from one server to another would add a transfer over the network and remove none. What is
// chosen is the order of the servers. GPUs of a server are alike, so a node with unlike GPUs is several
// servers that say so by `node`. They follow each other, and a transfer between them takes the inner link of
// the slower one. A cluster description is JSON:
//
//   {"servers": [{"name": "a", "gpus": 8, "speed": 1.0, "gpu_memory_gib": 80, "inner_gbit": 2400,
//                 "network_gbit": 100, "inner_latency_us": 5, "network_latency_us": 20, "node": "n"}]}
//
// All but name and gpus may be missing: speed 1, no limit of memory, transfers that cost nothing, and a node
// without another server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/partition.h"

namespace crossover::pipeline {

// A Server has GPUs that are alike.
struct Server {
  std::string name;
  std::string node{};  // empty: no other server is on its node
  int gpus = 1;
  double speed = 1;
  std::uint64_t memory = 0;                                         // of each GPU, bytes; 0: no limit
  double inner_bytes_per_second = 0, network_bytes_per_second = 0;  // 0: transfers take only the latency
  Time inner_latency = 0, network_latency = 0;                      // ns

  friend bool operator==(const Server&, const Server&) = default;
};

// A cluster description has such limits, both of servers and of the speed of each.
inline constexpr std::size_t kMostServers = 1'000;
inline constexpr double kLeastSpeed = 1e-3, kMostSpeed = 1e3;

// Returns the servers in `text`, the content of the file `name`. If anything in it is refused, returns
// nothing and sets `error` to a line with file, place, key, what is expected and the value.
std::optional<std::vector<Server>> ReadServers(const std::string& text, const std::string& name,
                                               std::string* error);

// A Seat names the GPU of a stage.
struct Seat {
  std::string server;
  int gpu = 0;
};

// A Mapping is a problem whose devices are those of the best order of the servers that was found, with its
// division.
struct Mapping {
  Problem problem;
  std::vector<Seat> seats;  // by device
  Division division;
};

// Returns the best mapping of so many stages onto some or all of the servers that was found, without slices;
// none if none was found on which they fit. `problem.devices` is not read. Orders of servers that are alike
// count once, and the servers of a node follow each other. If there are more than kMostOrders, it begins with
// the fastest servers and exchanges two as long as that helps, for at most so many orders.
std::optional<Mapping> Map(const Problem& problem, const std::vector<Server>& all, int stages);
inline constexpr int kMostOrders = 5040;

}  // namespace crossover::pipeline
