// Finds out what the network of this node carries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace crossover::deviceplugin {

// Returns what the active InfiniBand and RoCE ports of the node carry together, in one direction, in bytes
// per second. That is the sum of their rates as the kernel tells them in
// `sysfs`/class/infiniband/DEVICE/ports/PORT, such as "200 Gb/sec (4X HDR)". Returns 0 if there is no such
// port. The speed of another network card does not count: the virtual cards of clouds and containers tell
// speeds that their network does not have.
std::uint64_t PortBytesPerSecond(const std::string& sysfs);

// A NodeLink looks at the ports again once a minute: a driver asks the card each time. Not thread-safe.
class NodeLink {
 public:
  explicit NodeLink(std::string sysfs = "/sys") : sysfs_(std::move(sysfs)) {}

  // Returns the speed of the link in bytes per second, or 0 if it is not known. If `said_gbps` is not 0, that
  // many Gb/s is the answer. `now` is of the monotonic clock, in ns.
  std::uint64_t BytesPerSecond(std::uint32_t said_gbps, std::int64_t now);

 private:
  static constexpr std::int64_t kLookAgain = 60'000'000'000;  // ns

  const std::string sysfs_;
  std::uint64_t found_ = 0;
  std::optional<std::int64_t> looked_;
};

}  // namespace crossover::deviceplugin
