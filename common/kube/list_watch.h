// Keeps up with a list of objects of the API server: lists them, then watches, and begins anew where it has
// lost the thread. On a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>

#include "common/kube/client.h"

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

  enum class Wanted {
    kAll,
    kMetadata,  // of each object, where the server can leave out the rest
  };

  // `path`: of the list, with its selectors, such as /api/v1/pods?fieldSelector=spec.nodeName%3Dx. `handler`
  // outlives it.
  ListWatch(Access access, std::string path, Handler* handler, Wanted wanted = Wanted::kAll);
  ~ListWatch();

  // The watch stands, or was ended by the server a moment ago in good order.
  bool synced() const { return synced_; }

 private:
  void Run();
  std::string Accepted(const std::string& metadata) const;
  bool List();
  void Watch();
  bool OnLine(std::string_view line);
  void Complain(const std::string& what);
  bool Pause(std::chrono::milliseconds pause);
  bool Stopping();

  Client client_;
  const std::string path_;
  const Wanted wanted_;
  Handler* handler_;
  std::string version_;  // resourceVersion to go on from; empty: list anew
  std::string complaint_;
  std::atomic<bool> synced_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::kube
