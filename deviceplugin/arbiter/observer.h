// What the arbiter tells the rest of the daemon: events for metrics and trace, lines for the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "deviceplugin/arbiter/page.h"
#include "turn/shares.h"
#include "turn/turnstile.h"

namespace crossover::arbiter {

// One GPU, for as long as anybody refers to it. Immutable but for the page's own words.
struct GpuInfo {
  std::string uuid;
  std::string key;  // of its page: the UUID, but for a client that is kept apart from the others
  std::unique_ptr<Page> page;
};

// One client of one GPU.
struct Member {
  std::uint64_t id = 0;  // of its connection: never used again while the daemon lives
  std::shared_ptr<const GpuInfo> gpu;
  turn::SlotIndex slot = 0;
  std::string gang;
  std::string name_space;  // of its pod; empty where it has none
  std::string pod;
  std::string pod_uid;
  std::uint32_t gang_size = 0;
  std::uint32_t rank = 0;
  std::int64_t pid = 0;  // as the kernel says, 0 if it cannot
  std::uint32_t uid = 0;
  std::uint32_t priority = 0;  // enum crossover_priority
  turn::Demand known;       // as learned of an earlier process of the same job; unknown where there was none
  double max_slowdown = 0;  // step together over step alone; 0: none
  // These change while it lives.
  mutable std::atomic<std::uint32_t> transport{0};  // enum crossover_transport
  mutable std::atomic<std::uint32_t> transport_changes{0};
  mutable std::atomic<bool> observed{false};  // whoever started it wants it to be watched only
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
  kMeasure,    // its step alone, while the others were kept waiting for that
  kOffend,     // it overran too often: no turns on its GPU for a while
  kPardon,     // it may take turns again
  kGrantCap,   // its cap on slowdown is kept again
  kRefuseCap,  // its cap on slowdown cannot be kept beside the others'
  kDamage      // the turnstile was written over: by `member`, or by some client of it
};
std::string_view Name(EventKind kind);

// Of enum crossover_mode, crossover_phase and crossover_transport, in metrics, trace and API alike; "invalid"
// for what is none: a client may write anything.
const char* ModeName(std::uint32_t mode);
const char* PhaseName(std::uint32_t phase);
const char* TransportName(std::uint32_t transport);

struct Event {
  EventKind kind;
  turn::Time at = 0;  // CLOCK_MONOTONIC, when the arbiter saw it
  std::shared_ptr<const GpuInfo> gpu;
  std::shared_ptr<const Member> member;  // null where an event has no client
  turn::Time duration = 0;  // kHold: the wait before it; kRelease: the turn; kStep, kMeasure: an iteration
  std::uint32_t mode = 0;   // kMode: enum crossover_mode
  // kStep: iterations since the event before, each `duration` long; kMeasure: that it is the mean of.
  std::uint32_t steps = 0;
  // kStep: what an iteration needs with nobody beside it, and how much its compute varies (Rhythm::jitter),
  // as its turns and the gaps between them tell; unknown and negative while they do not.
  turn::Demand demand = {};
  double jitter = -1;
  // kRelease, kArrive: of turn::Event.
  turn::Time whole = turn::kNever;
  std::uint32_t iteration = 0;
  std::uint32_t position = 0;
  std::uint32_t turns = 1;
};

enum class LogLevel : std::uint8_t { kError, kWarn, kInfo, kDebug };

// Called on the arbiter's thread, between polls: implementations must neither block nor do I/O.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnEvent(const Event& event) = 0;
  virtual void OnLog(LogLevel level, std::string line) = 0;
  // Counters of a GPU, as they stand after a poll that changed something.
  virtual void OnStats(const std::shared_ptr<const GpuInfo>& gpu, const turn::Stats& stats) = 0;
};

}  // namespace crossover::arbiter
