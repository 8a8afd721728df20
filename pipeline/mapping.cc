#include "pipeline/mapping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "pipeline/input.h"
#include "pipeline/json_file.h"

namespace crossover::pipeline {
namespace {

using nlohmann::json;

constexpr int kMostGpus = 1024;     // of a server
constexpr std::size_t kTried = 24;  // orders of which the division is searched in full

double NumberAt(const json& object, const std::string& place, const char* key, double low, double high,
                double missing) {
  const auto found = object.find(key);
  if (found == object.end()) return missing;
  const double value = found->is_number() ? found->get<double>() : std::nan("");
  if (value >= low && value <= high) return value;
  std::array<char, 64> expected{};
  std::snprintf(expected.data(), expected.size(), "a number from %g to %g", low, high);
  Refuse(place, key, expected.data(), Said(*found));
}

int GpusAt(const json& object, const std::string& place) {
  const auto found = object.find("gpus");
  const bool is_number = found != object.end() && found->is_number();
  const double value = is_number ? found->get<double>() : 0;
  if (value >= 1 && value <= kMostGpus && value == std::floor(value)) return static_cast<int>(value);
  Refuse(place, "gpus", "a whole number from 1 to " + std::to_string(kMostGpus),
         found == object.end() ? "none" : Said(*found));
}

// Returns "" if the object does not have the key.
std::string NameAt(const json& object, const std::string& place, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (!found->is_string() || found->get_ref<const std::string&>().empty())
    Refuse(place, key, "a name", Said(*found));
  return found->get<std::string>();
}

Server ServerIn(const json& object, const std::string& place) {
  constexpr double kGib = 1u << 30, kGbit = 1e9 / 8, kUs = 1e3;
  static const std::set<std::string> known = {"name",
                                              "node",
                                              "gpus",
                                              "speed",
                                              "gpu_memory_gib",
                                              "inner_gbit",
                                              "network_gbit",
                                              "inner_latency_us",
                                              "network_latency_us"};
  if (!object.is_object()) Refuse(place, "server", "an object", Said(object));
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) {
      Refuse(place, "key",
             "name, node, gpus, speed, gpu_memory_gib, inner_gbit, network_gbit, inner_latency_us or "
             "network_latency_us",
             key);
    }
  }
  if (!object.contains("name")) Refuse(place, "name", "a name", "none");
  Server server{.name = NameAt(object, place, "name"), .node = NameAt(object, place, "node")};
  server.gpus = GpusAt(object, place);
  server.speed = NumberAt(object, place, "speed", kLeastSpeed, kMostSpeed, 1);
  server.memory = static_cast<std::uint64_t>(NumberAt(object, place, "gpu_memory_gib", 0, 1e6, 0) * kGib);
  server.inner_bytes_per_second = NumberAt(object, place, "inner_gbit", 0, 1e6, 0) * kGbit;
  server.network_bytes_per_second = NumberAt(object, place, "network_gbit", 0, 1e6, 0) * kGbit;
  server.inner_latency = static_cast<Time>(NumberAt(object, place, "inner_latency_us", 0, 1e9, 0) * kUs);
  server.network_latency = static_cast<Time>(NumberAt(object, place, "network_latency_us", 0, 1e9, 0) * kUs);
  return server;
}

auto KindOf(const Server& server) {
  return std::tie(server.node, server.gpus, server.speed, server.memory, server.inner_bytes_per_second,
                  server.network_bytes_per_second, server.inner_latency, server.network_latency);
}

using Order = std::vector<std::size_t>;  // indices of servers

// Returns the slower one of two links in bytes per second, of which 0 is the fastest.
double Slower(double one, double other) {
  return one > 0 && other > 0 ? std::min(one, other) : std::max(one, other);
}

// Returns the servers without the nodes that have only one of them, so that servers that are alike can be
// told.
std::vector<Server> WithSharedNodes(std::vector<Server> servers) {
  std::map<std::string, int> on_node;
  for (const Server& server : servers) ++on_node[server.node];
  for (Server& server : servers) {
    if (on_node[server.node] == 1) server.node.clear();
  }
  return servers;
}

// Sets the link of a device of `from` to one of `to`. The slower end of the link counts.
void SetLink(const Server& from, const Server& to, Device* device) {
  const bool inner = &from == &to || (!from.node.empty() && from.node == to.node);
  device->latency = inner ? std::max(from.inner_latency, to.inner_latency)
                          : std::max(from.network_latency, to.network_latency);
  device->bytes_per_second = inner ? Slower(from.inner_bytes_per_second, to.inner_bytes_per_second)
                                   : Slower(from.network_bytes_per_second, to.network_bytes_per_second);
}

// Returns how many of the first servers in this order have so many GPUs. REQUIRES: all of them have as many.
std::size_t UsedOf(const std::vector<Server>& servers, const Order& order, int stages) {
  std::size_t used = 0;
  for (int gpus = 0; gpus < stages;) gpus += servers[order[used++]].gpus;
  return used;
}

// Returns the order with those of the first servers, which have the stages, that are of one node behind each
// other.
Order Grouped(const std::vector<Server>& servers, Order order, int stages) {
  std::map<std::string_view, std::size_t> nodes;              // the place of the first server of each
  std::vector<std::pair<std::size_t, std::size_t>> by_place;  // of the first server of the node; the server
  const std::size_t used = UsedOf(servers, order, stages);
  for (std::size_t place = 0; place < used; ++place) {
    const std::string& node = servers[order[place]].node;
    by_place.emplace_back(node.empty() ? place : nodes.try_emplace(node, place).first->second, order[place]);
  }
  std::ranges::stable_sort(by_place, {}, [](const auto& entry) { return entry.first; });
  for (std::size_t place = 0; place < used; ++place) order[place] = by_place[place].second;
  return order;
}

// Returns the devices of the first `stages` GPUs of the servers in this order. The link of the last one is to
// the first one, if the next chunk is if a device has several.
std::vector<Device> DevicesOf(const std::vector<Server>& servers, const Order& order, int stages,
                              std::vector<Seat>* seats) {
  std::vector<const Server*> at;  // by device
  for (const std::size_t index : order) {
    const Server& server = servers[index];
    for (int gpu = 0; gpu < server.gpus && static_cast<int>(at.size()) < stages; ++gpu) {
      at.push_back(&server);
      if (seats != nullptr) seats->push_back({server.name, gpu});
    }
  }
  std::vector<Device> devices;
  for (std::size_t d = 0; d < at.size(); ++d) {
    Device device{.speed = at[d]->speed, .memory = at[d]->memory};
    if (at.size() > 1) SetLink(*at[d], *at[(d + 1) % at.size()], &device);
    devices.push_back(device);
  }
  return devices;
}

// A Ranked is an order with what its balanced division is worth: bytes that are lacking, and time.
struct Ranked {
  std::pair<double, Time> worth;
  Order order;
};

// A Ranking judges orders of servers by their balanced divisions, and keeps the best ones.
class Ranking {
 public:
  Ranking(const Problem& problem, const std::vector<Server>& servers, int stages)
      : problem_(problem), servers_(servers), stages_(stages) {}

  // Looks at all orders that differ, or at some if there are more than kMostOrders.
  void Run() {
    Order order(servers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto before = [&](std::size_t a, std::size_t b) {
      return KindOf(servers_[a]) < KindOf(servers_[b]);
    };
    std::ranges::stable_sort(order, before);
    if (!TryAll(order, before)) TrySome(std::move(order));
    std::ranges::stable_sort(ranked_, {}, &Ranked::worth);
  }

  const std::vector<Ranked>& ranked() const { return ranked_; }

 private:
  template <typename Before>
  bool TryAll(const Order& first, const Before& before) {
    Order order = first;
    std::vector<Order> orders;
    do {
      if (static_cast<int>(orders.size()) == kMostOrders) return false;
      orders.push_back(order);
    } while (std::ranges::next_permutation(order, before).found);
    std::set<Order> seen;
    for (const Order& one : orders) {
      Order grouped = Grouped(servers_, one, stages_);
      if (seen.insert(grouped).second) Try(std::move(grouped));
    }
    return true;
  }

  // Begins with the fastest servers first, and with them last among the fastest that are needed, and
  // exchanges two servers as long as that helps.
  void TrySome(Order order) {
    const auto faster = [&](std::size_t a, std::size_t b) { return servers_[a].speed > servers_[b].speed; };
    std::ranges::stable_sort(order, faster);
    const std::size_t used = UsedOf(servers_, order, stages_);
    Climb(order, used);
    std::reverse(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(used));
    Climb(std::move(order), used);
  }

  void Climb(Order order, std::size_t used) {
    std::optional<std::pair<double, Time>> worth = Try(Grouped(servers_, order, stages_));
    for (bool better = true; better;) {
      better = false;
      for (std::size_t a = 0; a < used; ++a) {
        for (std::size_t b = a + 1; b < order.size(); ++b) {
          if (tried_ >= kMostOrders || KindOf(servers_[order[a]]) == KindOf(servers_[order[b]])) continue;
          std::swap(order[a], order[b]);
          const auto found = Try(Grouped(servers_, order, stages_));
          if (found && (!worth || *found < *worth)) {
            worth = found;
            better = true;
          } else {
            std::swap(order[a], order[b]);
          }
        }
      }
    }
  }

  // Returns what the order is worth, or nothing if the problem has a fault with it.
  std::optional<std::pair<double, Time>> Try(Order order) {
    ++tried_;
    Problem trial = problem_;
    trial.devices = DevicesOf(servers_, order, stages_, nullptr);
    if (!FaultOf(trial).empty()) return std::nullopt;
    const std::vector<std::size_t> borders = BalancedBorders(trial);
    ranked_.push_back({{LackingBytes(trial, borders), TimeOf(trial, borders)}, std::move(order)});
    return ranked_.back().worth;
  }

  const Problem& problem_;
  const std::vector<Server>& servers_;
  int stages_;
  int tried_ = 0;
  std::vector<Ranked> ranked_;
};

}  // namespace

std::optional<std::vector<Server>> ReadServers(const std::string& text, const std::string& name,
                                               std::string* error) {
  try {
    const json parsed = Parsed(text, name, "JSON that can be parsed");
    if (!parsed.is_object()) Refuse(name, "content", "an object with servers", Said(parsed));
    RefuseOtherKeys(parsed, name, "servers");
    const auto list = parsed.find("servers");
    if (list == parsed.end()) Refuse(name, "servers", "a list", "none");
    if (!list->is_array()) Refuse(name, "servers", "a list", Said(*list));
    if (list->empty() || list->size() > kMostServers)
      Refuse(name, "servers", "from 1 to " + std::to_string(kMostServers), std::to_string(list->size()));
    std::vector<Server> servers;
    std::set<std::string> names;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string place = name + ": servers[" + std::to_string(i) + "]";
      servers.push_back(ServerIn((*list)[i], place));
      if (!names.insert(servers.back().name).second)
        Refuse(place, "name", "a name that no other server has", servers.back().name);
    }
    return servers;
  } catch (const Fault& fault) {
    *error = fault.what();
    return std::nullopt;
  }
}

std::optional<Mapping> Map(const Problem& problem, const std::vector<Server>& all, int stages) {
  const std::vector<Server> servers = WithSharedNodes(all);
  int gpus = 0;
  for (const Server& server : servers) gpus += server.gpus;
  if (gpus < stages) return std::nullopt;
  Ranking ranking(problem, servers, stages);
  ranking.Run();
  const std::size_t count = std::min(ranking.ranked().size(), kTried);
  std::optional<Mapping> best;
  for (std::size_t i = 0; i < count; ++i) {
    const Order& order = ranking.ranked()[i].order;
    Mapping mapping{.problem = problem, .seats = {}, .division = {}};
    mapping.problem.devices = DevicesOf(servers, order, stages, &mapping.seats);
    mapping.problem.most_operations /= static_cast<std::int64_t>(count);
    const std::optional<Division> division = Divide(mapping.problem);
    if (!division || (best && division->time >= best->division.time)) continue;
    mapping.division = *division;
    best = std::move(mapping);
  }
  return best;
}

}  // namespace crossover::pipeline
