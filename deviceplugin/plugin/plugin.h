// Keeps a node's kubelet supplied with our slots: serves the plugin's socket, registers, and does so again
// whenever the kubelet, the socket or the stream between the two is lost.
//
// A kubelet empties its plugin directory when it starts, knows plugins by their resource alone, and
// disconnects the new registration where an old stream ends late: so the old server always ends before the
// next begins, and only one daemon of a node may run.
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

// How long to wait before the next try, after a pause of that length and a try that registered or did not.
std::chrono::milliseconds NextPause(std::chrono::milliseconds pause, bool registered);

class Plugin {
 public:
  struct Settings {
    std::string directory = "/var/lib/kubelet/device-plugins";  // the kubelet's; moves with its --root-dir
    std::string resource;
  };
  struct Status {
    bool registered = false;  // and the kubelet listens to us
    std::uint64_t registrations = 0;
    std::uint64_t failures = 0;  // to register
    std::string error;           // of the last failure; empty once it is registered again
  };

  // Serves from now on. `service`, used anew with each registration, and `devices` outlive it.
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
  // Waits for a kubelet, or until it is time to try again.
  Next Pause(DirectoryWatch* watch, std::chrono::milliseconds patience);
  void NoteFailure(const std::string& error);
  std::string KubeletSocket() const;
  std::string OwnSocket() const;

  const Settings settings_;
  SlotService* service_;
  base::UniqueFd stop_;  // an eventfd, readable once it is to stop
  mutable std::mutex mutex_;
  Status status_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
