#include "deviceplugin/signals/host_usage.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>

#include "common/base/fd.h"

namespace crossover::signals {
namespace {

// These constants number the fields as proc(5) does. The name ends field 2.
constexpr std::size_t kFirstField = 3, kUserTime = 14, kSystemTime = 15, kStarted = 22, kResidentPages = 24;

}  // namespace

std::optional<ProcessUsage> ParseStat(std::string_view stat, std::uint64_t ticks_per_second,
                                      std::uint64_t page_bytes) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 1);
  std::array<std::uint64_t, kResidentPages + 1> fields{};
  for (std::size_t field = kFirstField; field <= kResidentPages; ++field) {
    const std::size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    const bool wanted =
        field == kUserTime || field == kSystemTime || field == kStarted || field == kResidentPages;
    if (!wanted) continue;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), fields[field]);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  }
  const double ticks = static_cast<double>(fields[kUserTime]) + static_cast<double>(fields[kSystemTime]);
  return ProcessUsage{.started = fields[kStarted],
                      .resident_bytes = fields[kResidentPages] * page_bytes,
                      .cpu_seconds = ticks / static_cast<double>(ticks_per_second)};
}

std::optional<ProcessUsage> ReadUsage(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const base::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;
  const ssize_t size = file ? read(file.get(), text.data(), text.size()) : -1;
  if (size <= 0) return std::nullopt;
  return ParseStat({text.data(), static_cast<std::size_t>(size)},
                   static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)),
                   static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

void HostUsage::Fill(ByGpu* figures) {
  const std::lock_guard lock(mutex_);
  std::erase_if(gpus_, [figures](const auto& entry) { return !figures->contains(entry.first); });
  for (auto& [uuid, of_gpu] : *figures) {
    Of& gpu = gpus_[uuid];
    Look(of_gpu, &gpu);
    of_gpu.host = {};
    if (gpu.read) of_gpu.host.cpu_seconds = gpu.ended_cpu_seconds;
    for (const auto& [pid, usage] : gpu.processes) {
      of_gpu.host.resident_bytes = of_gpu.host.resident_bytes.value_or(0) + usage.resident_bytes;
      *of_gpu.host.cpu_seconds += usage.cpu_seconds;
    }
  }
}

// Reads the processes of one GPU. Another process may have got the ID of one that has ended.
void HostUsage::Look(const Figures& figures, Of* gpu) {
  std::map<std::int64_t, ProcessUsage> now;
  for (const std::int64_t pid : figures.processes) {
    if (const auto usage = read_(pid)) now[pid] = *usage;
  }
  for (const auto& [pid, before] : gpu->processes) {
    const auto found = now.find(pid);
    if (found == now.end() || found->second.started != before.started)
      gpu->ended_cpu_seconds += before.cpu_seconds;
  }
  gpu->read = gpu->read || !now.empty();
  gpu->processes = std::move(now);
}

}  // namespace crossover::signals
