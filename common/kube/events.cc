#include "common/kube/events.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/hash.h"
#include "common/kube/json.h"
#include "common/kube/status_codes.h"
#include "common/logging/log.h"
#include "common/text/truncate.h"

namespace crossover::kube {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestNote = 1024;
constexpr int kTries = 12;  // about five minutes in all
constexpr milliseconds kPause{1000};
constexpr milliseconds kLongestPauseOfEvents{30'000};
constexpr std::size_t kLongestName = 200;  // longest part of the object's name in the event's name

// Returns a time as the API server requires it, with exactly six digits of microseconds.
std::string MicroTime(std::int64_t seconds, std::int64_t micros) {
  const time_t whole = seconds;
  tm broken{};
  gmtime_r(&whole, &broken);
  std::array<char, 32> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &broken);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%s.%06dZ", day.data(), static_cast<int>(micros));
  return text.data();
}

// Returns the note as UTF-8 of at most kLongestNote bytes. Bytes that are not valid are replaced before the
// note is cut, because a replacement has three bytes.
std::string NoteOf(const Event& event) {
  const std::string valid = Text(nlohmann::json::parse(Dump(event.note)));
  return std::string(text::Truncate(valid, kLongestNote));
}

}  // namespace

std::string BodyOf(const Event& event, const std::string& reporter, const std::string& instance,
                   const std::string& name, std::int64_t seconds, std::int64_t micros) {
  const Regarding& about = event.regarding;
  nlohmann::json regarding = {{"kind", about.kind}, {"name", about.name}, {"apiVersion", "v1"}};
  if (!about.name_space.empty()) regarding["namespace"] = about.name_space;
  if (!about.uid.empty()) regarding["uid"] = about.uid;
  const nlohmann::json body = {
      {"apiVersion", "events.k8s.io/v1"},
      {"kind", "Event"},
      {"metadata", {{"name", name}, {"namespace", about.name_space.empty() ? "default" : about.name_space}}},
      {"eventTime", MicroTime(seconds, micros)},
      {"reportingController", reporter},
      {"reportingInstance", instance},
      {"type", event.warning ? "Warning" : "Normal"},
      {"reason", event.reason},
      {"action", event.action},
      {"note", NoteOf(event)},
      {"regarding", regarding}};
  return Dump(body);
}

Events::Events(Access access, std::string reporter, std::string instance)
    : client_(std::move(access)),
      reporter_(std::move(reporter)),
      instance_(std::move(instance)),
      thread_([this] { Run(); }) {
  pthread_setname_np(thread_.native_handle(), "xo-events");
}

Events::~Events() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  client_.Stop();
  thread_.join();
}

void Events::Tell(Event event) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - forgotten_ > kForget) {
      told_.clear();
      forgotten_ = now;
    }
    if (!event.paced && told_.contains(event)) return;
    if (waiting_.size() >= kMostWaiting) {
      ++lost_;
      return;
    }
    if (!event.paced && told_.size() < kMostWaiting) told_.insert(event);
    waiting_.push_back(std::move(event));
  }
  wake_.notify_one();
}

std::uint64_t Events::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::size_t Events::room() const {
  const std::lock_guard lock(mutex_);
  return kMostWaiting - waiting_.size();
}

bool Events::Stopping() {
  const std::lock_guard lock(mutex_);
  return stop_;
}

bool Events::Pause(milliseconds pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return stop_; });
}

void Events::Run() {
  for (;;) {
    Event event;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      event = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Outcome outcome = Post(event);
    milliseconds pause = kPause;
    for (int tries = 1; outcome == Outcome::kAgain && tries < kTries; ++tries) {
      if (!Pause(std::max<milliseconds>(pause, retry_after_))) return;
      pause = std::min(2 * pause, kLongestPauseOfEvents);
      outcome = Post(event);
    }
    if (outcome == Outcome::kTold) continue;
    const std::lock_guard lock(mutex_);
    told_.erase(event);
    ++lost_;
  }
}

// Returns the name of the Event object. An event with `once_in_cluster` gets the same name from each
// reporter.
std::string Events::NameFor(const Event& event, const timespec& now) {
  const Regarding& about = event.regarding;
  const std::string what =
      event.once_in_cluster
          ? about.kind + "/" + about.uid + "/" + event.reason + "/" + event.note
          : instance_ + std::to_string(now.tv_sec) + std::to_string(now.tv_nsec) + std::to_string(++number_);
  return about.name.substr(0, kLongestName) + "." + base::HexOf(base::Hash(what)).data();
}

Events::Outcome Events::Post(const Event& event) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const Regarding& about = event.regarding;
  const std::string name_space = about.name_space.empty() ? "default" : about.name_space;
  const std::string name = NameFor(event, now);
  const Response response =
      client_.Send({.method = "POST",
                    .path = "/apis/events.k8s.io/v1/namespaces/" + name_space + "/events",
                    .body = BodyOf(event, reporter_, instance_, name, now.tv_sec, now.tv_nsec / 1000)});
  retry_after_ = response.retry_after;
  if (response.status == kCreated || (response.status == kConflict && event.once_in_cluster)) {
    complaint_.clear();
    return Outcome::kTold;
  }
  const std::string why = response.status == 0 ? response.error : "status " + std::to_string(response.status);
  if (why != complaint_ && !Stopping())
    logging::Warn("events not sent: " + event.reason + " about " + about.kind + " " +
                  (about.name_space.empty() ? "" : about.name_space + "/") + about.name + ": " + why + " " +
                  std::string(text::Truncate(response.body, 200)));
  complaint_ = why;
  const bool ours = response.status >= 400 && response.status < 500 && response.status != kTooManyRequests;
  return ours ? Outcome::kRefused : Outcome::kAgain;
}

}  // namespace crossover::kube
