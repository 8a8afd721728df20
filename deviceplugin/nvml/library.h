// Wraps the few functions of NVML, the NVIDIA driver's management library, that the daemon needs. The
// library is loaded at run time and nothing is linked. A machine without it lacks the information of NVML
// and nothing else.
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

// Holds a loaded and initialized NVML. Not thread-safe.
class NvmlLibrary {
 public:
  static constexpr char kName[] = "libnvidia-ml.so.1";

  // Loads and initializes the library. Returns null, with the reason in `error`, if either fails.
  static std::unique_ptr<NvmlLibrary> Load(const std::string& name, std::string* error);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  struct Gpu {
    std::string uuid;
    std::string name;
    unsigned minor = 0;  // number in /dev/nvidia<minor>
    // GPUs that share the memory of the host (GB10) have none of their own to tell: then it is unset.
    std::optional<std::uint64_t> memory_bytes;
    bool mig = false;         // split into MIG instances; such a GPU is left alone
    std::optional<int> numa;  // NUMA node of the host that it is attached to; unset: not known, or only one
    // Says whether the driver asks for a reset of the GPU or a reboot of the node. It is nullopt for
    // drivers before 565, which do not say.
    std::optional<bool> wants_reset;
  };
  // Returns the GPUs that answer, in the driver's order. Returns nullopt if the driver does not say how
  // many there are.
  std::optional<std::vector<Gpu>> Gpus() const;

  // Holds how all processes together use a GPU now. A value that the driver does not report is unset.
  struct Usage {
    // This is the part of the last sampling period (up to a second) in which any kernel ran, from 0 to 1. A
    // collective that only waits counts as running.
    std::optional<double> busy;
    std::optional<std::uint64_t> memory_used;
    std::optional<std::uint64_t> memory_total;
  };
  // Returns the usage of each GPU that answers, by UUID.
  std::map<std::string, Usage> Usages() const;

  struct Xid {
    std::string gpu_uuid;
    unsigned xid = 0;
  };
  // Starts to record errors of all GPUs that exist now, for NextXid(). A new call replaces the previous
  // one. Returns false if no GPU supports this.
  bool WatchXids();
  bool watches_xids() const;
  // Waits for the next error for at most `patience` and returns it. Returns nullopt if none comes, or
  // earlier if the driver fails. REQUIRES: watches_xids().
  std::optional<Xid> NextXid(std::chrono::milliseconds patience) const;

  // Returns the processes with a context on the GPU, by process ID, including clients of MPS. The value is
  // the number of bytes that the process has allocated on the GPU, if the driver knows it. Returns nullopt
  // if the driver does not answer.
  using ProcessMemory = std::map<pid_t, std::optional<std::uint64_t>>;
  std::optional<ProcessMemory> Processes(const std::string& gpu_uuid) const;
  // Returns the processes that Processes() returns and whose memory is known, with the number of bytes.
  // Returns nullopt if the driver does not answer.
  std::optional<std::map<pid_t, std::uint64_t>> MemoryByProcess(const std::string& gpu_uuid) const;

 private:
  struct Functions;
  explicit NvmlLibrary(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
};

}  // namespace crossover::deviceplugin
