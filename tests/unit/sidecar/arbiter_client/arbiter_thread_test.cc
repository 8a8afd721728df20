#include "sidecar/arbiter_client/arbiter_thread.h"

#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/arbiter_client/abandoned_pages.h"
#include "tests/unit/sidecar/arbiter_client/fake_arbiter.h"

namespace crossover::arbiter_client {
namespace {

using test::Listener;
using test::SendMessage;
using test::Turnstile;
using test::Welcome;

// A FakeClient remembers what the arbiter thread told it.
class FakeClient final : public Client {
 public:
  void OnThreadStart() override {}
  std::uint32_t wanted_transport() const override { return CROSSOVER_TRANSPORT_GPU_GATES; }
  void LimitMemory(std::uint64_t bytes) override { limit = bytes; }
  bool Attach(crossover_page*, turn::SlotIndex) override {
    attaching = true;
    while (driver_waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Become(true);
  }
  void StopTaking() override { stopped = true; }
  void Detach() override { Become(false); }
  turn::TurnNumber Asked() const override { return asked; }
  int OnTick() override {
    std::this_thread::sleep_for(std::chrono::seconds(stops_for_s.exchange(0)));
    return 10;
  }
  void OnOffer(const crossover_offer& offer, OwnFd memory) override {
    offered = offer.area;
    offered_memory = static_cast<bool>(memory);
    want = true;
  }
  void OnProven(const crossover_proof& proof) override { proven = proof.number; }
  bool NextMessage(ToArbiter* message) override {
    if (!want.exchange(false)) return false;
    message->want = {{CROSSOVER_WANT_SIGNALS, sizeof message->want, CROSSOVER_PROTOCOL_VERSION, 0}, 1, 0};
    return true;
  }
  bool FillProfile(crossover_profile* profile) override {
    profile->turns = 17;
    return true;
  }

  void Await(bool attached) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return attached_ == attached; });
  }

  std::atomic<std::uint64_t> limit{0};
  std::atomic<std::uint32_t> offered{0};
  std::atomic<bool> offered_memory{false};
  std::atomic<std::uint32_t> proven{0};
  std::atomic<bool> want{false};
  std::atomic<turn::TurnNumber> asked{0};
  std::atomic<bool> stopped{false};
  std::atomic<bool> attaching{false};
  std::atomic<bool> driver_waits{false};  // Attach() waits while this is true
  std::atomic<int> stops_for_s{0};        // the next OnTick() takes so long, as if the process were stopped

 private:
  bool Become(bool attached) {
    const std::lock_guard lock(mutex_);
    attached_ = attached;
    changed_.notify_all();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool attached_ = false;
};

// The thread lives as long as the process, so the ArbiterThread and what it uses are never destroyed.
class HelperTest : public ::testing::Test {
 protected:
  void Start() {
    crossover_hello hello{};
    std::strcpy(hello.gang, "a");
    helper_->Start(client_, listener_->path(), hello);
    helper_->Start(client_, "/nowhere", hello);  // has no effect
  }

  // Lets the client in. Returns the connection.
  base::UniqueFd Admit(Turnstile& turnstile) {
    crossover_hello hello{};
    base::UniqueFd connection = listener_->Accept(&hello);
    EXPECT_STREQ(hello.gang, "a");
    EXPECT_EQ(hello.transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_GPU_GATES));
    crossover_welcome welcome = Welcome(1);
    welcome.memory_mib = memory_mib_;
    SendMessage(connection.get(), &welcome, sizeof welcome, turnstile.fd());
    client_->Await(true);
    return connection;
  }

  // Returns whether the gate of a stream that waits for turn 5 is opened again after it was shut.
  static bool OpensAgain(crossover_slot& slot) {
    base::StoreWord(&slot.gate, 4);
    const std::int64_t end = base::MonotonicNs() + 5 * base::kNsPerSecond;
    while (!turn::AtOrPast(base::LoadWord(&slot.gate), 5)) {
      if (base::MonotonicNs() > end) return false;
      base::FutexWait(&slot.gate, 4, base::kNsPerMs);
    }
    return true;
  }

  static void Pause() {
    const std::uint32_t never = 0;
    base::FutexWait(&never, 0, base::kNsPerMs);
  }

  // Remembers an object that is never destroyed, so that no leak checker reports it.
  template <typename T>
  static T* Keep(T* object) {
    static auto* const kept = new std::vector<void*>;
    kept->push_back(object);
    return object;
  }

  std::uint32_t memory_mib_ = 0;  // of the welcome
  Listener* listener_ = Keep(new Listener);
  FakeClient* client_ = Keep(new FakeClient);
  ArbiterThread* helper_ = Keep(new ArbiterThread);
};

TEST_F(HelperTest, TellsTheClientHowMuchMemoryItsPodMayHave) {
  Turnstile turnstile;
  memory_mib_ = 5000;
  Start();
  const base::UniqueFd connection = Admit(turnstile);
  EXPECT_EQ(client_->limit, std::uint64_t{5000} << 20);
}

TEST_F(HelperTest, HandsOverWhatIsSaidOfSignalsAndSendsWhatTheClientSays) {
  Turnstile turnstile;
  Start();
  const base::UniqueFd connection = Admit(turnstile);
  crossover_offer offer{{CROSSOVER_OFFER, sizeof offer, CROSSOVER_PROTOCOL_VERSION, 0}, 0, 5, 4096, 1};
  SendMessage(connection.get(), &offer, sizeof offer, turnstile.fd());
  crossover_want_signals want{};
  do {
    ASSERT_GT(::recv(connection.get(), &want, sizeof want, 0), 0);
  } while (want.header.type != CROSSOVER_WANT_SIGNALS);  // profiles come, too
  EXPECT_EQ(want.header.bytes, sizeof want);
  EXPECT_EQ(want.want, 1u);
  EXPECT_EQ(client_->offered, 5u);
  EXPECT_TRUE(client_->offered_memory);
  crossover_proof proof{{CROSSOVER_PROVEN, sizeof proof, CROSSOVER_PROTOCOL_VERSION, 0}, 0, 5, 1, 77, 1};
  SendMessage(connection.get(), &proof, sizeof proof);
  while (client_->proven == 0) Pause();
  EXPECT_EQ(client_->proven, 77u);
}

TEST_F(HelperTest, JoinsHoldsItsWordAndSendsProfiles) {
  Turnstile turnstile;
  Start();
  const base::UniqueFd connection = Admit(turnstile);
  EXPECT_NE(base::LoadWord(&turnstile.page().slot[1].alive), 0u);
  crossover_profile profile{};
  ASSERT_EQ(::recv(connection.get(), &profile, sizeof profile, 0), static_cast<ssize_t>(sizeof profile));
  EXPECT_EQ(profile.header.type, static_cast<std::uint32_t>(CROSSOVER_PROFILE));
  EXPECT_EQ(profile.turns, 17u);
}

TEST_F(HelperTest, FailsOpenWhenTheArbiterDiesAndJoinsAgain) {
  Turnstile turnstile;
  Start();
  base::UniqueFd connection = Admit(turnstile);
  crossover_slot& slot = turnstile.page().slot[1];
  client_->asked = 5;  // a stream waits for turn 5
  base::StoreWord(&slot.ready, 5);
  connection.Reset();
  // The test does what the stream does: it is let in, and shuts the gate behind itself before it is seen
  // inside.
  while (!turn::AtOrPast(base::LoadWord(&slot.gate), 5)) base::FutexWait(&slot.gate, 0, base::kNsPerMs);
  base::StoreWord(&slot.gate, 4);
  while (!turn::AtOrPast(base::LoadWord(&slot.gate), 5)) base::FutexWait(&slot.gate, 4, base::kNsPerMs);
  base::StoreWord(&slot.hold, 5);
  client_->Await(false);
  EXPECT_TRUE(client_->stopped);
  EXPECT_EQ(base::LoadWord(&slot.faults), 1u);

  Turnstile next;
  const base::UniqueFd again = Admit(next);
  EXPECT_NE(base::LoadWord(&next.page().slot[1].alive), 0u);
}

TEST_F(HelperTest, ALossAtWhichNoneWaitsIsNoFault) {
  Turnstile turnstile, next;
  Start();
  base::UniqueFd connection = Admit(turnstile);
  connection.Reset();
  client_->Await(false);
  const base::UniqueFd again = Admit(next);
  EXPECT_EQ(base::LoadWord(&turnstile.page().slot[1].faults), 0u);
}

TEST_F(HelperTest, OpensATurnstileThatItHasLeftWhateverItsWordsSay) {
  Turnstile turnstile;
  Start();
  base::UniqueFd connection = Admit(turnstile);
  crossover_slot& slot = turnstile.page().slot[1];
  client_->asked = 5;  // a stream waits for turn 5, and the page says that it was let in
  base::StoreWord(&slot.hold, 5);
  connection.Reset();
  client_->Await(false);
  Turnstile next;
  const base::UniqueFd again = Admit(next);  // now it takes turns in another turnstile
  for (int times = 0; times < 2; ++times) EXPECT_TRUE(OpensAgain(slot));
}

TEST_F(HelperTest, OpensEveryTurnstileThatItHasLeft) {
  Turnstile turnstile, next;
  Start();
  base::UniqueFd connection = Admit(turnstile);
  crossover_slot& slot = turnstile.page().slot[1];
  client_->asked = 5;
  base::StoreWord(&slot.hold, 5);
  connection.Reset();
  client_->Await(false);
  client_->asked = 0;
  connection = Admit(next);
  connection.Reset();
  client_->Await(false);
  for (int times = 0; times < 2; ++times) EXPECT_TRUE(OpensAgain(slot));
}

// With one hardware queue the driver may wait behind that same stream.
TEST_F(HelperTest, OpensATurnstileThatItHasLeftWhileTheDriverKeepsItFromJoining) {
  Turnstile turnstile, next;
  Start();
  base::UniqueFd connection = Admit(turnstile);
  crossover_slot& slot = turnstile.page().slot[1];
  client_->asked = 5;  // two turns were queued, and the stream has had one
  base::StoreWord(&slot.hold, 3);
  client_->attaching = false;
  client_->driver_waits = true;
  connection.Reset();
  client_->Await(false);
  crossover_hello hello{};
  connection = listener_->Accept(&hello);
  const crossover_welcome welcome = Welcome(1);
  SendMessage(connection.get(), &welcome, sizeof welcome, next.fd());
  while (!client_->attaching) Pause();
  for (int times = 0; times < 2; ++times) EXPECT_TRUE(OpensAgain(slot));
  base::StoreWord(&slot.hold, 5);
  client_->driver_waits = false;
  client_->Await(true);
}

TEST(AbandonedPagesTest, AreOpenedForLongWhileAStreamWaits) {
  constexpr std::int64_t kMinute = 60 * base::kNsPerSecond;
  crossover_slot slot{};
  slot.hold = 3;
  EXPECT_FALSE(AbandonedPages::Over(slot, 5, 20 * kMinute));
  EXPECT_TRUE(AbandonedPages::Over(slot, 5, 100 * kMinute));
  slot.alive = 77;
  EXPECT_TRUE(AbandonedPages::Over(slot, 5, 20 * kMinute)) << "it is another client's by now";
  slot.alive = 0;
  slot.hold = 5;
  EXPECT_TRUE(AbandonedPages::Over(slot, 5, 20 * kMinute));
  EXPECT_FALSE(AbandonedPages::Over(slot, 5, kMinute / 2)) << "who knows who wrote that";
}

TEST_F(HelperTest, FailsOpenWhenTheArbiterHangsWhileATurnIsAwaited) {
  Turnstile turnstile;
  Start();
  const base::UniqueFd connection = Admit(turnstile);
  client_->asked = 1;
  crossover_slot& slot = turnstile.page().slot[1];
  while (!turn::AtOrPast(base::LoadWord(&slot.gate), 1)) base::FutexWait(&slot.gate, 0, base::kNsPerMs);
  base::StoreWord(&slot.hold, 1);
  client_->Await(false);
  char end;
  while (::recv(connection.get(), &end, 1, 0) > 0) continue;  // the client hung up
}

TEST_F(HelperTest, TurnsThatGoRoundNeedNoPassesOfTheArbiter) {
  Turnstile turnstile;
  Start();
  const base::UniqueFd connection = Admit(turnstile);
  std::atomic<bool> enough{false};
  // The host runs ahead of its stream. There is always a turn that was asked for and not had, but it is
  // never the same one.
  std::thread stream([&] {
    while (!enough) {
      base::StoreWord(&turnstile.page().slot[1].hold, client_->asked++);
      Pause();
    }
  });
  crossover_profile profile{};
  for (int seconds = 0; seconds < 2; ++seconds) {
    EXPECT_EQ(::recv(connection.get(), &profile, sizeof profile, 0), static_cast<ssize_t>(sizeof profile));
  }
  enough = true;
  stream.join();
  EXPECT_FALSE(client_->stopped);
}

TEST_F(HelperTest, SendsNoProfilesOfTheTimeInWhichItWasStopped) {
  Turnstile turnstile;
  Start();
  const base::UniqueFd connection = Admit(turnstile);
  crossover_profile profile{};
  ASSERT_EQ(::recv(connection.get(), &profile, sizeof profile, 0), static_cast<ssize_t>(sizeof profile));
  client_->stops_for_s = 3;
  ASSERT_EQ(::recv(connection.get(), &profile, sizeof profile, 0), static_cast<ssize_t>(sizeof profile));
  pollfd readable{connection.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 500), 0) << "the next is due a second later";
}

TEST_F(HelperTest, RefusedClientTriesAgain) {
  Start();
  crossover_hello hello{};
  const crossover_refused refused{MakeHeader(CROSSOVER_REFUSED, sizeof(crossover_refused)), "not now"};
  {
    const base::UniqueFd connection = listener_->Accept(&hello);
    SendMessage(connection.get(), &refused, sizeof refused);
  }
  Turnstile turnstile;
  const base::UniqueFd connection = Admit(turnstile);
  EXPECT_FALSE(client_->stopped);
}

}  // namespace
}  // namespace crossover::arbiter_client
