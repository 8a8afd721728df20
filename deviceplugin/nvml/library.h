// The few questions to the NVIDIA driver's management library that the daemon has. The library is looked up
// when it is needed: nothing is linked, and a machine without it lacks what it would say and nothing else.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace crossover::deviceplugin {

// Not thread-safe.
class NvmlLibrary {
 public:
  static constexpr char kName[] = "libnvidia-ml.so.1";

  // Null where it cannot be loaded or does not start, with the reason in `error`.
  static std::unique_ptr<NvmlLibrary> Load(const std::string& name, std::string* error);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  struct Gpu {
    std::string uuid;
    std::string name;
    unsigned minor = 0;  // of /dev/nvidia<minor>
    std::uint64_t memory_bytes = 0;
    bool mig = false;  // split into instances: such a GPU is left alone
    std::optional<bool>
        wants_reset;  // or its node rebooted; nothing: a driver before 565, which does not say
  };
  // Those that answer, in the driver's order. Nothing where the driver does not say how many there are.
  std::optional<std::vector<Gpu>> Gpus() const;

  // How a GPU is used now, by whomever; what the driver does not say is unset.
  struct Usage {
    // Of its last sampling period (up to a second), the part in which anything ran: also a collective that
    // only waits.
    std::optional<double> busy;
    std::optional<std::uint64_t> memory_used;
    std::optional<std::uint64_t> memory_total;
  };
  // By UUID, of those that answer.
  std::map<std::string, Usage> Usages() const;

  struct Xid {
    std::string gpu_uuid;
    unsigned xid = 0;
  };
  // From now on errors of all GPUs that there are now are kept for NextXid(). False where none supports that.
  bool WatchXids();
  bool watches_xids() const;
  // The next error, if one comes within `patience`; sooner without one where the driver fails.
  std::optional<Xid> NextXid(std::chrono::milliseconds patience) const;

  // Processes with a context on a GPU, also those that are clients of MPS, by process id, and the bytes that
  // each has allocated, where the driver knows. Nothing where the driver does not answer.
  using ProcessMemory = std::map<pid_t, std::optional<std::uint64_t>>;
  std::optional<ProcessMemory> Processes(const std::string& gpu_uuid) const;
  // Of those whose memory is known.
  std::optional<std::map<pid_t, std::uint64_t>> MemoryByProcess(const std::string& gpu_uuid) const;

 private:
  struct Functions;
  explicit NvmlLibrary(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
};

}  // namespace crossover::deviceplugin
