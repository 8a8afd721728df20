#include "sidecar/arbiter_client/arbiter_thread.h"

#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "common/base/timespec.h"
#include "sidecar/arbiter_client/leave.h"
#include "sidecar/arbiter_client/page.h"
#include "sidecar/log/log.h"
#include "sidecar/threads/thread.h"

namespace crossover::arbiter_client {
namespace {

constexpr std::int64_t kReconnectNs = 500 * base::kNsPerMs;
constexpr std::int64_t kArbiterPatienceNs = 500 * base::kNsPerMs;
constexpr std::int64_t kProfileNs = base::kNsPerSecond;

void Sleep(std::int64_t ns) {
  const timespec pause = base::TimespecOf(ns);
  ::nanosleep(&pause, nullptr);
}

// A Watch tells whether the arbiter hangs: its passes have stopped, and this client waits for a turn that
// does not come. As long as the clients hand turns over to each other, they need no arbiter.
class Watch {
 public:
  Watch(const crossover_page* page, turn::SlotIndex slot) : page_(page), slot_(slot) {}

  bool ArbiterHangs(turn::TurnNumber asked) {
    const std::uint32_t beat = base::LoadWord(&page_->arbiter_beat);
    const turn::TurnNumber held = base::LoadWord(&page_->slot[slot_].hold);
    const std::int64_t now = base::MonotonicNs();
    if (beat != beat_ || held != held_ || turn::AtOrPast(held, asked)) {
      beat_ = beat;
      held_ = held;
      since_ns_ = now;
    }
    return now - since_ns_ >= kArbiterPatienceNs;
  }

 private:
  const crossover_page* page_;
  turn::SlotIndex slot_;
  std::uint32_t beat_ = 0;
  turn::TurnNumber held_ = 0;
  std::int64_t since_ns_ = base::MonotonicNs();
};

}  // namespace

void ArbiterThread::Start(Client* client, const char* path, const crossover_hello& hello) {
  if (started_.exchange(true)) return;
  client_ = client;
  path_ = path;
  hello_ = hello;
  if (!threads::StartThread(&ArbiterThread::Run, this))
    Complain("the library cannot start its thread: look at the limits of processes and of memory");
}

void* ArbiterThread::Run(void* self) {
  threads::NameThread();
  static_cast<ArbiterThread*>(self)->Loop();
  return nullptr;
}

void ArbiterThread::Loop() {
  client_->OnThreadStart();
  hello_.header = MakeHeader(CROSSOVER_HELLO, sizeof hello_);
  while (!given_up_) {
    Connection connection;
    Membership membership;
    if (Join(&connection, &membership)) {
      Serve(&connection, membership);
      socket_.Hide();
      connection.Close();
      liveness_.Stop();
    }
    abandoned_pages_.Tend();
    Sleep(kReconnectNs);
  }
}

bool ArbiterThread::Join(Connection* connection, Membership* membership) {
  if (!connection->Connect(path_)) {
    Complain("no arbiter at its socket, or no permission to connect");
    return false;
  }
  socket_.Show(connection->fd());
  hello_.transport = client_->wanted_transport();
  char reason[CROSSOVER_REASON_MAX];
  bool joined = connection->Join(hello_, membership, reason, sizeof reason);
  if (!joined) Complain(reason);
  if (joined && membership->memory_mib != 0)
    client_->LimitMemory(std::uint64_t{membership->memory_mib} << 20);
  if (joined && !Enter(*membership)) {
    joined = false;
    given_up_ = true;
  }
  if (!joined) socket_.Hide();
  return joined;
}

bool ArbiterThread::Enter(const Membership& membership) {
  if (!liveness_.Start(&membership.page->slot[membership.slot].alive)) {
    Complain(
        "the arbiter could not see the end of this process: expected a thread with a robust futex, got none "
        "(a limit "
        "of threads, or a seccomp filter that refuses set_robust_list)");
  } else if (client_->Attach(membership.page, membership.slot)) {
    return true;
  } else {
    liveness_.Stop();
  }
  UnmapPage(membership.page);  // nothing was queued on it
  return false;
}

// Serves the connection until the arbiter is lost, and then lets go of the page.
void ArbiterThread::Serve(Connection* connection, const Membership& membership) {
  complained_ = false;
  Watch watch(membership.page, membership.slot);
  std::int64_t next_profile_ns = base::MonotonicNs() + kProfileNs;
  while (true) {
    if (!Listen(connection)) break;
    if (watch.ArbiterHangs(client_->Asked())) break;
    const std::int64_t now = base::MonotonicNs();
    if (now < next_profile_ns) continue;
    next_profile_ns = now + kProfileNs;  // no profile for the time in which this process was stopped
    abandoned_pages_.Tend();
    crossover_profile profile{};
    if (!client_->FillProfile(&profile)) continue;
    profile.header = MakeHeader(CROSSOVER_PROFILE, sizeof profile);
    connection->Send(&profile.header);
  }
  client_->StopTaking();
  Complain("the arbiter is lost");
  LetGo(client_, membership, &abandoned_pages_);
}

// Lets the client do its periodic work, sends what it has to say, and hands it what the arbiter says
// meanwhile. Returns false if the connection has ended.
bool ArbiterThread::Listen(Connection* connection) {
  const int timeout_us = client_->OnTick();
  ToArbiter message;
  while (client_->NextMessage(&message)) connection->Send(&message.header);
  Received received;
  if (connection->AwaitEnd(timeout_us, &received)) return false;
  if (received.kind == MessageKind::kOffer)
    client_->OnOffer(received.message.offer, static_cast<OwnFd&&>(received.fd));
  if (received.kind == MessageKind::kProven) client_->OnProven(received.message.proven);
  return true;
}

// Writes a line to the log, but one line only until the next time that the arbiter lets this client in.
void ArbiterThread::Complain(const char* why) {
  if (complained_) return;
  complained_ = true;
  log::Write(log::Level::kWarn, "%s (%s); the job runs without taking turns", why, path_);
}

}  // namespace crossover::arbiter_client
