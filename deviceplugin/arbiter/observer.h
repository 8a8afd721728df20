// Defines what the arbiter reports to the rest of the daemon: events for metrics and trace, and log lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "deviceplugin/arbiter/page.h"
#include "proto/arbiter_protocol.h"
#include "turn/fair_share.h"
#include "turn/turnstile.h"

namespace crossover::arbiter {

using CallList = std::vector<crossover_call>;

// A GpuInfo describes one GPU. It exists as long as a reference to it does, and is immutable except for the
// words of the page.
struct GpuInfo {
  std::string uuid;
  std::string
      key;  // key of its page: the UUID, with a suffix if a client has a page of its own (quarantine.h)
  std::unique_ptr<Page> page;
};

// A Member is one client of one GPU.
struct Member {
  std::uint64_t id = 0;  // ID of its connection; not used again while the daemon lives
  std::shared_ptr<const GpuInfo> gpu;
  turn::SlotIndex slot = 0;
  std::string gang;
  std::string name_space;  // namespace of its pod; empty if it has no pod
  std::string pod;
  std::string pod_uid;
  std::uint32_t gang_size = 0;
  std::uint32_t rank = 0;
  std::int64_t pid = 0;  // process ID as the kernel reports it; 0 if the kernel cannot tell
  std::uint32_t uid = 0;
  std::uint32_t priority = 0;    // enum crossover_priority
  turn::Demand known;            // learned from an earlier process of the same job; else unknown
  double max_slowdown = 0;       // step time together over step time alone; 0: no cap
  std::uint32_t memory_mib = 0;  // its memory limit on each GPU; 0: no limit is known
  // The next fields change while the client lives.
  mutable std::atomic<std::uint32_t> transport{0};  // enum crossover_transport
  mutable std::atomic<std::uint32_t> transport_changes{0};
  // Holds how long the client waits for input in an iteration, as its process says (crossover_profile).
  mutable std::atomic<std::uint32_t> input_wait{0};
  mutable std::atomic<bool> observed{false};  // the user wants this client to be only watched
};

enum class EventKind : std::uint8_t {
  kArrive,
  kHold,
  kRelease,
  kGrant,
  kRevoke,
  kMint,
  kSwallow,
  kOpen,
  kJoin,
  kLeave,
  kMode,
  kStep,
  kMeasure,    // a client's step time alone was measured while the others were kept waiting
  kOffend,     // the client overran too often: no turns on its GPU for a while
  kPardon,     // the client may take turns again
  kGrantCap,   // the client's cap on slowdown is kept again
  kRefuseCap,  // the client's cap on slowdown cannot be kept beside those of others
  kDamage,     // the turnstile was written over, by `member` or, if that is null, by some client
  kCalls,      // the client has said what it calls in an iteration
  kReductions  // the client has said which of its reductions are compressed
};
std::string_view Name(EventKind kind);

// These functions return the name of a value of enum crossover_mode, crossover_phase or crossover_transport,
// for metrics, trace and API. The functions return "invalid" for any other value: a client may write
// anything.
const char* ModeName(std::uint32_t mode);
const char* PhaseName(std::uint32_t phase);
const char* TransportName(std::uint32_t transport);
// Returns NCCL's name of a value of enum crossover_function, without the prefix.
const char* FunctionName(std::uint32_t function);

struct Event {
  EventKind kind;
  turn::Time at = 0;  // CLOCK_MONOTONIC, when the arbiter saw it
  std::shared_ptr<const GpuInfo> gpu;
  std::shared_ptr<const Member> member;  // null if an event has no client
  turn::Time duration = 0;  // kHold: the wait before; kRelease: the turn; kStep, kMeasure: an iteration
  std::uint32_t mode = 0;   // kMode: enum crossover_mode
  // kStep: the number of iterations since the last such event, each `duration` long. kMeasure: the number of
  // iterations that `duration` is the mean of.
  std::uint32_t steps = 0;
  // kStep sets these: what an iteration needs while no other client is there, and how much its compute varies
  // (TimingModel::jitter). Both come from turns and the gaps between them. While turns do not show them,
  // `demand` is unknown and `jitter` is negative.
  turn::Demand demand = {};
  double jitter = -1;
  // kRelease and kArrive set these: see turn::Event.
  turn::Time whole = turn::kNever;
  std::uint32_t iteration = 0;
  std::uint32_t position = 0;
  std::uint32_t turns = 1;
  // kCalls sets this, and it is never null there. It is foreign data, within the bounds of client_messages.h.
  std::shared_ptr<const CallList> calls{};
  // kReductions sets this, and it is never null there. It is foreign data, without any bounds.
  std::shared_ptr<const crossover_reductions> reductions{};
};

enum class LogLevel : std::uint8_t { kError, kWarn, kInfo, kDebug };

// The arbiter's thread calls an Observer between polls: implementations must neither block nor do I/O.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnEvent(const Event& event) = 0;
  virtual void OnLog(LogLevel level, std::string line) = 0;
  // Reports the counters of a GPU after a poll that changed one of them.
  virtual void OnStats(const std::shared_ptr<const GpuInfo>& gpu, const turn::Stats& stats) = 0;
};

}  // namespace crossover::arbiter
