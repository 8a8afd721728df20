// Posts Kubernetes events about objects to the API server, on a thread of its own.
#pragma once

#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "common/kube/client.h"

namespace crossover::kube {

// A Regarding names the object that an event is about.
struct Regarding {
  std::string kind;        // Pod, Node or Namespace
  std::string name_space;  // empty: the object has no namespace
  std::string name;
  std::string uid;  // may be empty

  friend auto operator<=>(const Regarding&, const Regarding&) = default;
};

struct Event {
  Regarding regarding;
  bool warning = true;
  std::string reason;  // one word in CamelCase, such as SlotsWithheld
  std::string action;  // what was done, also one word
  std::string note;    // at most 1024 bytes; a longer note is cut
  // If true, several processes may report the same event of the same object. The API server keeps the first
  // and refuses the others, as long as it remembers the first.
  bool once_in_cluster = false;
  // If true, the caller limits the rate itself: the event is posted even if it was posted a short time ago.
  bool paced = false;

  friend auto operator<=>(const Event&, const Event&) = default;
};

// Returns the event's JSON in the form of the API server. `instance` is the reporter's instance. `seconds`
// and `micros` are the time since 1970.
std::string BodyOf(const Event& event, const std::string& reporter, const std::string& instance,
                   const std::string& name, std::int64_t seconds, std::int64_t micros);

// Queues events and posts them. Thread-safe.
class Events {
 public:
  static constexpr std::size_t kMostWaiting = 256;
  static constexpr std::chrono::minutes kForget{10};

  // `reporter` is the program, such as crossover.dev/deviceplugin. `instance` says which of its instances,
  // by node.
  Events(Access access, std::string reporter, std::string instance);
  // Drops the events that are not posted yet.
  ~Events();

  // Queues an event, and does not wait until it is posted. Drops an event that was queued before, unless it
  // is paced; every kForget, all that was queued before is forgotten. Drops the event and counts it as lost
  // if kMostWaiting events wait.
  void Tell(Event event);
  // Returns the number of events that the API server did not get: they were dropped because too many waited,
  // were refused, or could not be posted after several tries.
  std::uint64_t lost() const;
  // Returns how many events fit into the queue now. Other threads may fill it before the caller does.
  std::size_t room() const;

 private:
  enum class Outcome { kTold, kRefused, kAgain };

  void Run();
  Outcome Post(const Event& event);
  bool Pause(std::chrono::milliseconds pause);
  bool Stopping();
  std::string NameFor(const Event& event, const timespec& now);

  Client client_;
  const std::string reporter_;
  const std::string instance_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Event> waiting_;
  std::set<Event> told_;
  std::chrono::steady_clock::time_point forgotten_ = std::chrono::steady_clock::now();
  std::uint64_t lost_ = 0;
  bool stop_ = false;
  std::uint64_t number_ = 0;  // only for the thread, like complaint_
  std::chrono::seconds retry_after_{0};
  std::string complaint_;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace crossover::kube
