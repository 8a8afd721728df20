// Connects our device plugin to the kubelet of the node. It serves the plugin's socket and registers with
// the kubelet. It registers again whenever the kubelet restarts, the socket is removed, or the stream
// between the two breaks.
//
// A kubelet empties its plugin directory when it starts. It knows plugins by their resource name alone. If
// an old stream ends late, the kubelet disconnects the new registration. The old server therefore always
// ends before the next one starts, and only one daemon may run on a node.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/base/fd.h"

namespace grpc {
class Server;
}

namespace crossover::deviceplugin {

class DirectoryWatch;
class SlotService;

// Returns how long to wait before the next try. `pause` is the previous wait. `registered` says whether the
// last try registered; then the wait is the shortest one, otherwise it doubles up to a limit.
std::chrono::milliseconds NextPause(std::chrono::milliseconds pause, bool registered);

class Plugin {
 public:
  struct Settings {
    // This is the kubelet's plugin directory. It changes with the kubelet's --root-dir.
    std::string directory = "/var/lib/kubelet/device-plugins";
    std::string resource;  // name of the extended resource, such as crossover.dev/slot
  };
  struct Status {
    bool registered = false;  // registered, and the kubelet has an open stream
    std::uint64_t registrations = 0;
    std::uint64_t failures = 0;  // failed registrations
    std::string error;           // last failure; empty once it is registered again
  };

  // Starts to serve on a thread of its own. Each registration uses `service` again. REQUIRES: `service`
  // outlives this object.
  Plugin(Settings settings, SlotService* service);
  ~Plugin();

  Status status() const;

 private:
  enum class Next { kStop, kAgain };

  void Run();
  Next ServeOnce(DirectoryWatch* watch);
  std::unique_ptr<grpc::Server> Listen();
  bool Register(std::string* error);
  Next AwaitLoss(DirectoryWatch* watch);
  // Waits until a kubelet appears or `patience` is over. Returns kStop if the thread must end.
  Next Pause(DirectoryWatch* watch, std::chrono::milliseconds patience);
  void NoteFailure(const std::string& error);
  std::string KubeletSocket() const;
  std::string OwnSocket() const;

  const Settings settings_;
  SlotService* service_;
  base::UniqueFd stop_;  // eventfd; readable once the thread must stop
  mutable std::mutex mutex_;
  Status status_;
  std::thread thread_;  // must be the last member: the thread uses the others
};

}  // namespace crossover::deviceplugin
