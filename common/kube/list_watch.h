// Keeps up with a list of objects of the API server: lists them, then watches, goes on where a watch broke
// off, and begins anew where it has lost the thread. On a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "common/kube/client.h"
#include "common/kube/pages.h"
#include "common/kube/watch_lines.h"

namespace crossover::kube {

class ListWatch {
 public:
  // Called on the thread of the watch.
  class Handler {
   public:
    virtual ~Handler() = default;
    // All objects there are; those that were known and are not among them are gone.
    virtual void OnList(const nlohmann::json& items) = 0;
    virtual void OnChange(const nlohmann::json& object) = 0;  // new or another than before
    virtual void OnDelete(const nlohmann::json& object) = 0;
  };

  using Sink = ListSink;

  enum class Wanted {
    kAll,
    kMetadata,  // of each object, where the server can leave out the rest
  };

  struct Options {
    Wanted wanted = Wanted::kAll;
    // The list comes as the beginning of the watch, where the server can do that: it need not hold it whole.
    bool streamed = false;
    // A server that does not know such objects has none of them: a list without any.
    bool may_lack = false;
    // The list comes whole, of the server's watch cache, which has an index of pods by node; what it is
    // stored in has none and is read from end to end. For lists that are short.
    bool from_cache = false;
    // Fields of objects' metadata, spec and status that nobody reads.
    std::set<std::string> without{};
    std::chrono::milliseconds least_pause{800};
    int page = kPage;
  };

  // `path`: of the list, with its selectors, such as /api/v1/pods?fieldSelector=spec.nodeName%3Dx. `handler`
  // and `sink` outlive it.
  ListWatch(Access access, std::string path, Handler* handler, Wanted wanted = Wanted::kAll);
  ListWatch(Access access, std::string path, Handler* handler, Options options);
  ListWatch(Access access, std::string path, Sink* sink, Options options);
  ~ListWatch();

  // A list was had, and the watch stands, or was ended by the server a moment ago in good order.
  bool synced() const { return synced_; }

 private:
  ListWatch(Access access, std::string path, std::unique_ptr<Sink> own, Sink* sink, Options options);

  void Run();
  // Each: whether to go on at once.
  bool List();
  bool Stream();
  bool Watch();
  bool Fail(const Response& response);
  void Lack();
  std::string Query(const std::string& parameters) const;
  std::string PageFrom(const std::string& next) const;
  std::string Accepted(const std::string& metadata) const;
  bool OnLine(std::string_view line);
  void NoteListed();
  void Complain(const std::string& what);
  void Recover();
  bool Pause(std::chrono::milliseconds pause);
  bool Stopping();

  Client client_;
  const std::string path_;
  Options options_;
  const std::unique_ptr<Sink> own_;
  Sink* const sink_;
  // Of the thread alone.
  std::mt19937 random_{std::random_device()()};
  WatchLines lines_;
  bool cache_failed_ = false;
  bool progress_ = false;
  int failures_ = 0;  // watches in a row that said nothing
  std::chrono::seconds retry_after_{0};
  std::string complaint_;

  std::atomic<bool> synced_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::kube
