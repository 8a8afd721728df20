// Follows a list of objects of the API server, on a thread of its own. It lists the objects and then
// watches them. After a watch that broke off, and while the server is busy or away, it continues at the last
// version. It lists again if the server no longer has that version, after any other error, and after several
// watches in a row without news.
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
  // Receives whole lists and changes, on the watch's thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    // Receives all existing objects. Objects that were known and are not in `items` are gone.
    virtual void OnList(const nlohmann::json& items) = 0;
    virtual void OnChange(const nlohmann::json& object) = 0;  // a new or changed object
    virtual void OnDelete(const nlohmann::json& object) = 0;
  };

  using Sink = ListSink;

  enum class Wanted {
    kAll,
    kMetadata,  // only the metadata of each object, if the server can omit the rest
  };

  struct Options {
    Wanted wanted = Wanted::kAll;
    // Requests the list as the beginning of the watch, if the server can do that. The server then need
    // not hold the whole list in memory.
    bool streamed = false;
    // Treats a server that does not know this kind of object as one with an empty list.
    bool may_lack = false;
    // Requests the whole list from the server's watch cache, which has an index of pods by node. The
    // server's storage has no such index and would be read from end to end. For short lists only.
    bool from_cache = false;
    // Drops these fields of each object's metadata, spec and status: no reader needs them.
    std::set<std::string> without{};
    std::chrono::milliseconds least_pause{800};
    int page = kPage;
  };

  // `path` is the path of the list with its selectors, such as
  // /api/v1/pods?fieldSelector=spec.nodeName%3Dx. REQUIRES: `handler` and `sink` outlive this object.
  ListWatch(Access access, std::string path, Handler* handler, Wanted wanted = Wanted::kAll);
  ListWatch(Access access, std::string path, Handler* handler, Options options);
  ListWatch(Access access, std::string path, Sink* sink, Options options);
  ~ListWatch();

  // Returns whether a list has been read, and the last request since then was answered. A watch that ends or
  // breaks off changes nothing here; the request after it does, if it is not answered. With may_lack, a
  // server that does not know the kind of object counts as one that has answered. Thread-safe.
  bool synced() const { return synced_; }

 private:
  ListWatch(Access access, std::string path, std::unique_ptr<Sink> own, Sink* sink, Options options);

  void Run();
  // The next four functions return whether to continue at once, without a pause.
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
  // Only the watch's thread uses the next members.
  std::mt19937 random_{std::random_device()()};
  WatchLines lines_;
  bool cache_failed_ = false;
  bool progress_ = false;
  int failures_ = 0;  // watches in a row without news
  std::chrono::seconds retry_after_{0};
  std::string complaint_;

  std::atomic<bool> synced_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace crossover::kube
