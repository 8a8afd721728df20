#include "deviceplugin/inventory/node_link.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

constexpr double kBytesOfGigabit = 1e9 / 8;
constexpr double kMostGigabits = 1e5;  // of a port; more is no rate

// Returns the rate of a port in Gb/s, or 0 if the port is not active.
double RateOf(const fs::path& port) {
  std::string state, unit;
  double gigabits = 0;
  std::getline(std::ifstream(port / "state"), state);
  std::ifstream(port / "rate") >> gigabits >> unit;
  const bool active = state == "4: ACTIVE" && unit == "Gb/sec";
  return active && gigabits > 0 && gigabits <= kMostGigabits ? gigabits : 0;
}

// Returns what is in the folder, or nothing if it cannot be read.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

}  // namespace

std::uint64_t PortBytesPerSecond(const std::string& sysfs) {
  double gigabits = 0;
  for (const fs::path& device : EntriesOf(fs::path(sysfs) / "class/infiniband")) {
    for (const fs::path& port : EntriesOf(device / "ports")) gigabits += RateOf(port);
  }
  return static_cast<std::uint64_t>(gigabits * kBytesOfGigabit);
}

std::uint64_t NodeLink::BytesPerSecond(std::uint32_t said_gbps, std::int64_t now) {
  if (said_gbps > 0) return static_cast<std::uint64_t>(said_gbps * kBytesOfGigabit);
  if (!looked_ || now - *looked_ >= kLookAgain) {
    found_ = PortBytesPerSecond(sysfs_);
    looked_ = now;
  }
  return found_;
}

}  // namespace crossover::deviceplugin
