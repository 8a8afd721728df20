// Serves signallers and the clients that ask for signals, beside the arbiter.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/extension.h"
#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/arbiter/poller.h"
#include "deviceplugin/signals/figures.h"
#include "deviceplugin/signals/host_usage.h"
#include "deviceplugin/signals/station.h"
#include "deviceplugin/signals/use.h"

namespace crossover::signals {

// Only the arbiter's thread uses it, except for figures().
class SignalDesk : public arbiter::Extension {
 public:
  // Without `identities`, each process with the daemon's user ID may be a signaller. REQUIRES: `identities`
  // outlives the desk.
  explicit SignalDesk(const arbiter::IdentitySource* identities)
      : identities_(identities), use_(identities == nullptr ? Use::kAllowed : Use::kNotKnown) {}

  bool Open(arbiter::Observer* observer, std::string* error) override;
  int fd() const override { return poller_.fd(); }
  void OnReady(turn::Time now) override;
  turn::Time Tick(turn::Time now) override;
  void OnJoin(const std::shared_ptr<const arbiter::Member>& member) override;
  void OnGone(const arbiter::Member& member) override;
  bool OnMessage(const arbiter::Connection& connection, const arbiter::Unknown& message,
                 std::string* why) override;
  std::vector<arbiter::Mail> TakeMail() override { return std::exchange(mail_, {}); }

  // Says whether signallers may use the GPUs. Any thread may call it. It holds from the next tick on. A desk
  // with `identities` begins with kNotKnown, and another one with kAllowed.
  void Set(Use use) { use_ = use; }
  // Returns the counts of each GPU that has a client or has had a signaller, and reads what its signallers
  // cost. Any thread may call it.
  ByGpu figures();

 private:
  Station& StationOf(const std::string& gpu_uuid);
  void Publish();
  std::string Admit(const arbiter::Connection& connection, const SignallerHello& hello);

  const arbiter::IdentitySource* identities_;
  arbiter::Observer* observer_ = nullptr;
  arbiter::Poller poller_;                   // of the signallers' sockets, all with one tag
  std::map<std::string, Station> stations_;  // by UUID
  std::vector<arbiter::Mail> mail_;
  std::atomic<Use> use_;
  std::mutex mutex_;
  ByGpu figures_;  // as of the last tick, without what they cost on the host; guarded by mutex_
  HostUsage usage_;
};

}  // namespace crossover::signals
