// Tells users what happened to their objects: events of the API server, on a thread of its own.
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

// Which object an event is about.
struct Regarding {
  std::string kind;        // Pod, Node or Namespace
  std::string name_space;  // empty: of the cluster
  std::string name;
  std::string uid;  // may be empty

  friend auto operator<=>(const Regarding&, const Regarding&) = default;
};

struct Event {
  Regarding regarding;
  bool warning = true;
  std::string reason;  // one word, such as SlotsWithheld
  std::string action;  // what was done, likewise one word
  std::string note;    // at most 1024 bytes; longer ones are cut
  // Others tell the same of the same object: whoever comes first does, as long as the API server remembers
  // it.
  bool once_in_cluster = false;
  // Who tells it sees to the pauses: it is told though it was told a while ago.
  bool paced = false;

  friend auto operator<=>(const Event&, const Event&) = default;
};

// As the API server wants it. `instance`: whose; `seconds` and `micros`: since 1970.
std::string BodyOf(const Event& event, const std::string& reporter, const std::string& instance,
                   const std::string& name, std::int64_t seconds, std::int64_t micros);

class Events {
 public:
  static constexpr std::size_t kMostWaiting = 256;
  static constexpr std::chrono::minutes kForget{10};

  // `reporter`: the program, such as crossover.dev/deviceplugin; `instance`: of which node.
  Events(Access access, std::string reporter, std::string instance);
  // What has not been told by then is lost.
  ~Events();

  // Never waits. An event that was told within kForget is not told again, unless it is paced; while
  // kMostWaiting wait, more are lost.
  void Tell(Event event);
  std::uint64_t lost() const;
  // For how many more there is room now, beside what others tell meanwhile.
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
  std::uint64_t number_ = 0;  // of the thread alone, like complaint_
  std::chrono::seconds retry_after_{0};
  std::string complaint_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::kube
