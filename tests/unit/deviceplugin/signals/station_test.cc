// Tests a station with signallers that are ends of socket pairs, and with clients that are pages.
#include "deviceplugin/signals/station.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "common/base/descriptors.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/signals/wire.h"
#include "tests/unit/deviceplugin/recording_observer.h"

namespace crossover::signals {
namespace {

using arbiter::Mail;

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";
constexpr std::uint32_t kBytes = 2 << 20;

// The far end of a signaller's connection.
class FarEnd {
 public:
  // Makes the two ends.
  FarEnd() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    far_.Reset(ends[0]);
    near_.Reset(ends[1]);
  }
  std::unique_ptr<SignallerLink> Link(std::int64_t pid) {
    return std::make_unique<SignallerLink>(std::move(near_), pid);
  }

  // Reads a message. Returns nothing if none is there.
  template <class Wire>
  std::optional<Wire> Next() {
    Wire wire{};
    iovec part{&wire, sizeof wire};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    descriptors.clear();
    if (recvmsg(far_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof wire) return std::nullopt;
    base::TakeDescriptors(&header, [this](int fd) { descriptors.emplace_back(fd); });
    return wire;
  }
  void SendSignals(std::uint32_t area) {
    const crossover_signals wire{HeaderOf<crossover_signals>(CROSSOVER_SIGNALS), area, kBytes};
    const base::UniqueFd memory(memfd_create("memory", MFD_CLOEXEC));
    const int fd = memory.get();
    EXPECT_EQ(base::SendWithDescriptors(far_.get(), &wire, sizeof wire, std::span(&fd, 1), 0),
              static_cast<ssize_t>(sizeof wire));
  }
  template <class Wire>
  void Send(const Wire& wire) {
    EXPECT_EQ(send(far_.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
  }
  void Die() { far_.Reset(); }

  std::vector<base::UniqueFd> descriptors;  // of the last message

 private:
  base::UniqueFd far_;
  base::UniqueFd near_;
};

class StationTest : public ::testing::Test {
 protected:
  StationTest() : gpu_(MakeGpu(kGpu)) {}

  static std::shared_ptr<arbiter::GpuInfo> MakeGpu(const std::string& key) {
    auto gpu = std::make_shared<arbiter::GpuInfo>();
    std::string error;
    gpu->uuid = kGpu;
    gpu->key = key;
    gpu->page = arbiter::Page::Create(&error);
    return gpu;
  }

  void Join(std::uint64_t id, turn::SlotIndex slot, std::shared_ptr<arbiter::GpuInfo> gpu = nullptr) {
    auto member = std::make_shared<arbiter::Member>();
    member->id = id;
    member->slot = slot;
    member->gpu = gpu == nullptr ? gpu_ : gpu;
    station_.Join(member, &mail_);
  }
  void Tick() { station_.Tick(now_, &mail_); }
  void BeatOnce() { arbiter::Atomic(gpu_->page->get()->signaller_beat).fetch_add(1); }
  void Pass(turn::Time time, bool beats = true) {
    constexpr turn::Time kStep = 50 * base::kNsPerMs;
    for (turn::Time passed = 0; passed < time; passed += kStep) {
      now_ += kStep;
      if (beats) BeatOnce();
      Tick();
    }
  }
  // Lets client 1 have the signals of area 5.
  void GiveSignals() {
    EXPECT_EQ(station_.Attach(far_.Link(70)), "");
    Join(1, 0);
    station_.Want(1, true);
    Tick();
    ASSERT_TRUE(far_.Next<crossover_follow>());
    far_.SendSignals(5);
    station_.Read(now_, &mail_);
    Tick();
    EXPECT_EQ(Last(1).state, static_cast<std::uint32_t>(CROSSOVER_OFFER_GIVEN));
    mail_.clear();
  }
  // Returns the last offer to a client, which has to have got one.
  crossover_offer Last(std::uint64_t client) {
    crossover_offer offer{};
    offer.state = CROSSOVER_OFFER_STATES;
    for (const Mail& mail : mail_) {
      if (mail.client != client || mail.bytes.size() != sizeof offer) continue;
      std::memcpy(&offer, mail.bytes.data(), sizeof offer);
      memory_came_ = mail.descriptor != nullptr;
    }
    return offer;
  }
  bool LastIs(std::uint64_t client, crossover_offer_state state) { return Last(client).state == state; }

  arbiter::RecordingObserver observer_;
  Station station_{kGpu, &observer_};
  std::shared_ptr<arbiter::GpuInfo> gpu_;
  FarEnd far_;
  std::vector<Mail> mail_;
  turn::Time now_ = base::kNsPerSecond;
  bool memory_came_ = false;
};

TEST_F(StationTest, AClientIsToldThatItMayAskAndNoMore) {
  station_.Attach(far_.Link(70));
  Join(1, 0);
  Tick();
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_ASK));
  EXPECT_FALSE(far_.Next<crossover_follow>()) << "no client has asked";
  EXPECT_EQ(mail_.size(), 1u);
}

TEST_F(StationTest, AClientThatAsksGetsTheMemory) {
  GiveSignals();
  EXPECT_EQ(station_.figures().offers[CROSSOVER_OFFER_GIVEN], 1u);
  EXPECT_EQ(station_.figures().exported_bytes, kBytes);
  EXPECT_EQ(station_.figures().processes, std::vector<std::int64_t>{70});
  Join(2, 1);
  station_.Want(2, true);
  Tick();
  EXPECT_TRUE(LastIs(2, CROSSOVER_OFFER_GIVEN));
  EXPECT_TRUE(memory_came_);
  EXPECT_EQ(Last(2).area, 5u);
  EXPECT_EQ(Last(2).bytes, kBytes);
}

TEST_F(StationTest, WithoutASignallerAClientIsToldSo) {
  Join(1, 0);
  station_.Want(1, true);
  Tick();
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_NO_SIGNALLER));
  EXPECT_FALSE(memory_came_);
}

TEST_F(StationTest, TheNextSignallerGetsTheKeptMemory) {
  GiveSignals();
  far_.Die();
  station_.Read(now_, &mail_);
  Tick();
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_NO_SIGNALLER));
  FarEnd next;
  now_ += OfferRule::kPause;
  EXPECT_EQ(station_.Attach(next.Link(71)), "");
  Tick();
  const auto follow = next.Next<crossover_follow>();
  ASSERT_TRUE(follow);
  EXPECT_EQ(follow->kept, 1u);
  EXPECT_EQ(follow->area, 5u);
  EXPECT_EQ(next.descriptors.size(), 2u);
  next.SendSignals(5);
  station_.Read(now_, &mail_);
  Tick();
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_GIVEN));
  EXPECT_TRUE(memory_came_);
}

TEST_F(StationTest, KeptMemoryThatIsRefusedIsGivenUp) {
  GiveSignals();
  far_.Die();
  station_.Read(now_, &mail_);
  FarEnd next;
  station_.Attach(next.Link(71));
  Tick();
  ASSERT_TRUE(next.Next<crossover_follow>());
  next.Send(arbiter::MakeRefused("kept memory: version: expected 2, got 1"));
  station_.Read(now_, &mail_);
  Tick();
  const auto follow = next.Next<crossover_follow>();
  ASSERT_TRUE(follow) << "it is asked again, without the memory";
  EXPECT_EQ(follow->kept, 0u);
  EXPECT_EQ(follow->area, 0u);
}

TEST_F(StationTest, ASignallerThatRefusesIsAskedAgainLater) {
  station_.Attach(far_.Link(70));
  Join(1, 0);
  station_.Want(1, true);
  Tick();
  ASSERT_TRUE(far_.Next<crossover_follow>());
  far_.Send(arbiter::MakeRefused("cuMemCreate: expected CUDA_SUCCESS, got CUDA_ERROR_OUT_OF_MEMORY"));
  station_.Read(now_, &mail_);
  Tick();
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_REFUSED));
  EXPECT_FALSE(far_.Next<crossover_follow>());
  Pass(10 * base::kNsPerSecond);
  EXPECT_TRUE(far_.Next<crossover_follow>());
}

TEST_F(StationTest, ABeatThatStandsStillTakesTheSignalsBack) {
  GiveSignals();
  Pass(Beat::kStill - 1);
  EXPECT_TRUE(mail_.empty());
  Pass(Beat::kStill, /*beats=*/false);
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_STILL));
  Pass(OfferRule::kPause);
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_GIVEN));
  EXPECT_TRUE(memory_came_);
}

TEST_F(StationTest, BothKindsOfClientsMeet) {
  GiveSignals();
  Join(2, 1);
  Pass(base::kNsPerSecond);
  EXPECT_FALSE(LastIs(1, CROSSOVER_OFFER_KINDS_MEET)) << "client 2 still learns";
  arbiter::Atomic(gpu_->page->slot(1).phase).store(CROSSOVER_PHASE_LOCKED);
  Pass(1);
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_KINDS_MEET));
  station_.Leave(2);
  Pass(OfferRule::kPause);
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_GIVEN));
}

TEST_F(StationTest, AClientThatGivesUpItsSignalsIsOfTheOtherKind) {
  GiveSignals();
  Join(2, 1);
  station_.Want(2, true);
  Tick();
  arbiter::Atomic(gpu_->page->slot(1).phase).store(CROSSOVER_PHASE_TAKING);
  Pass(1);
  EXPECT_FALSE(LastIs(1, CROSSOVER_OFFER_KINDS_MEET));
  station_.Want(2, false);
  Tick();
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_KINDS_MEET));
}

TEST_F(StationTest, ErasedSignalsEndTheSignals) {
  GiveSignals();
  arbiter::Atomic(gpu_->page->get()->signals_again).store(Erasures::kMany);
  Pass(1);
  EXPECT_TRUE(LastIs(1, CROSSOVER_OFFER_ERASED));
  EXPECT_EQ(station_.figures().again, Erasures::kMany);
}

TEST_F(StationTest, ClientsThatAreKilledAtTheirGatesDoNotEndTheSignals) {
  GiveSignals();
  std::uint32_t again = 0;
  for (std::uint64_t client = 2; client < 22; ++client) {
    Join(client, 1);
    arbiter::Atomic(gpu_->page->get()->signals_again).store(again += Erasures::kOfALeaver);
    Pass(1);
    station_.Leave(client);
    Tick();
    ASSERT_FALSE(LastIs(1, CROSSOVER_OFFER_ERASED)) << client;
  }
  EXPECT_EQ(station_.figures().again, again) << "the metric counts all of them";
}

TEST_F(StationTest, AClientWithATurnstileOfItsOwnGetsNone) {
  GiveSignals();
  Join(2, 0, MakeGpu(std::string(kGpu) + "/2"));
  station_.Want(2, true);
  Tick();
  EXPECT_TRUE(LastIs(2, CROSSOVER_OFFER_APART));
  EXPECT_FALSE(far_.Next<crossover_follow>());
}

TEST_F(StationTest, ANewTurnstileIsFollowedAndAnOldAnswerIsNotTaken) {
  GiveSignals();
  station_.Leave(1);
  gpu_ = MakeGpu(kGpu);
  Join(2, 0);
  station_.Want(2, true);
  Tick();
  const auto follow = far_.Next<crossover_follow>();
  ASSERT_TRUE(follow);
  EXPECT_EQ(follow->kept, 1u);
  EXPECT_EQ(follow->area, 0u) << "the signaller chooses the area of the new turnstile";
  gpu_ = MakeGpu(kGpu);
  Join(3, 0);
  station_.Want(3, true);
  Tick();
  ASSERT_TRUE(far_.Next<crossover_follow>());
  far_.SendSignals(6);  // the answer to the first
  station_.Read(now_, &mail_);
  Tick();
  EXPECT_FALSE(LastIs(3, CROSSOVER_OFFER_GIVEN));
  far_.SendSignals(7);
  station_.Read(now_, &mail_);
  now_ += OfferRule::kPause;
  BeatOnce();
  Tick();
  EXPECT_TRUE(LastIs(3, CROSSOVER_OFFER_GIVEN));
  EXPECT_EQ(Last(3).area, 7u);
}

TEST_F(StationTest, AProofGoesToTheSignallerAndItsAnswerBack) {
  GiveSignals();
  station_.Ask(1, {5, 4711}, &mail_);
  const auto prove = far_.Next<crossover_proof>();
  ASSERT_TRUE(prove);
  EXPECT_EQ(prove->client, 1u);
  EXPECT_EQ(prove->line, 0u);
  EXPECT_EQ(prove->number, 4711u);
  crossover_proof answer = *prove;
  answer.header = HeaderOf<crossover_proof>(CROSSOVER_PROVEN);
  answer.written = 1;
  far_.Send(answer);
  station_.Read(now_, &mail_);
  ASSERT_EQ(mail_.size(), 1u);
  std::memcpy(&answer, mail_[0].bytes.data(), sizeof answer);
  EXPECT_EQ(answer.client, 0u);
  EXPECT_EQ(answer.number, 4711u);
  EXPECT_EQ(answer.written, 1u);
  EXPECT_EQ(station_.figures().proofs_written, 1u);
}

TEST_F(StationTest, AProofInAnotherAreaOrWithoutSignalsIsNotWritten) {
  GiveSignals();
  station_.Ask(1, {6, 4711}, &mail_);
  Join(2, 1);
  station_.Ask(2, {5, 4711}, &mail_);
  EXPECT_FALSE(far_.Next<crossover_proof>());
  EXPECT_EQ(station_.figures().proofs_failed, 2u);
}

TEST_F(StationTest, ASecondSignallerTakesOverFromOneThatStandsStill) {
  GiveSignals();
  FarEnd second;
  EXPECT_EQ(station_.Attach(second.Link(71)), "");
  EXPECT_EQ(station_.figures().signallers, 2);
  Pass(Beat::kStill - 1);
  EXPECT_FALSE(second.Next<crossover_follow>()) << "the first one works";
  Pass(Beat::kStill + 1, /*beats=*/false);
  const auto follow = second.Next<crossover_follow>();
  ASSERT_TRUE(follow);
  EXPECT_EQ(second.descriptors.size(), 2u) << "the page and the kept memory";
  EXPECT_EQ(station_.figures().signallers, 1);
}

// Clients that see a beat stand still want no signals until it moves again.
TEST_F(StationTest, TheNextSignallerFollowsThoughNoClientWantsSignals) {
  GiveSignals();
  station_.Want(1, false);
  far_.Die();
  station_.Read(now_, &mail_);
  Tick();
  FarEnd second;
  EXPECT_EQ(station_.Attach(second.Link(71)), "");
  Tick();
  EXPECT_TRUE(second.Next<crossover_follow>());
  EXPECT_EQ(second.descriptors.size(), 2u) << "the page and the kept memory, in which streams may wait";
}

TEST_F(StationTest, ASecondSignallerTakesOverAtOnceFromOneThatDies) {
  GiveSignals();
  FarEnd second, third;
  EXPECT_EQ(station_.Attach(second.Link(71)), "");
  EXPECT_EQ(station_.Attach(third.Link(72)), "");
  second.Die();
  far_.Die();
  station_.Read(now_, &mail_);
  Tick();
  EXPECT_TRUE(third.Next<crossover_follow>());
  EXPECT_EQ(station_.figures().signallers, 1);
}

TEST_F(StationTest, TooManySignallersAreRefused) {
  GiveSignals();
  FarEnd ready[4];
  for (int i = 0; i < 3; ++i) EXPECT_EQ(station_.Attach(ready[i].Link(71 + i)), "");
  EXPECT_THAT(station_.Attach(ready[3].Link(74)),
              ::testing::HasSubstr("expected at most 4 signallers, got one more"));
  EXPECT_EQ(station_.figures().signallers, 4);
  ready[1].Die();
  FarEnd other;
  EXPECT_EQ(station_.Attach(other.Link(75)), "");
}

TEST_F(StationTest, WhereTheGpuIsToBeFreeSignallersLetGoOnceNoClientIsThere) {
  GiveSignals();
  FarEnd second;
  EXPECT_EQ(station_.Attach(second.Link(71)), "");
  station_.Set(Use::kEnded);
  Pass(100 * base::kNsPerMs);
  EXPECT_FALSE(far_.Next<crossover_rest>()) << "a client waits for signals";
  station_.Leave(1);
  Tick();
  for (FarEnd* far : {&far_, &second}) {
    const auto told = far->Next<crossover_rest>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->rest, 1u);
    far->Die();
  }
  EXPECT_EQ(station_.figures().signallers, 0);
  EXPECT_EQ(station_.figures().exported_bytes, 0u) << "the memory is one more use of the GPU";
  station_.Read(now_, &mail_);
  EXPECT_TRUE(station_.empty());
}

TEST_F(StationTest, ThoseThatRestAreToldWhenTheyMayUseTheGpuAndAreNotOffered) {
  station_.Set(Use::kEnded);
  EXPECT_EQ(station_.Attach(far_.Link(70), /*rests=*/true), "");
  EXPECT_FALSE(station_.empty());
  Join(1, 0);
  station_.Want(1, true);
  Tick();
  EXPECT_EQ(Last(1).state, static_cast<std::uint32_t>(CROSSOVER_OFFER_NO_SIGNALLER));
  EXPECT_FALSE(far_.Next<crossover_follow>());
  station_.Set(Use::kAllowed);
  Tick();
  const auto told = far_.Next<crossover_rest>();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->rest, 0u);
  FarEnd again;
  EXPECT_EQ(station_.Attach(again.Link(70)), "");
  Tick();
  const auto follow = again.Next<crossover_follow>();
  ASSERT_TRUE(follow);
  EXPECT_EQ(follow->kept, 0u);
}

TEST_F(StationTest, ThoseThatRestCountAmongTheMost) {
  FarEnd far[5];
  for (int i = 0; i < 4; ++i) EXPECT_EQ(station_.Attach(far[i].Link(70 + i), /*rests=*/i > 1), "");
  EXPECT_THAT(station_.Attach(far[4].Link(74)),
              ::testing::HasSubstr("expected at most 4 signallers, got one more"));
  far[3].Die();
  FarEnd other;
  EXPECT_EQ(station_.Attach(other.Link(75)), "");
}

TEST_F(StationTest, AMessageThatIsBrokenEndsTheConnection) {
  GiveSignals();
  const crossover_signals wire{HeaderOf<crossover_signals>(CROSSOVER_SIGNALS), 5, kBytes};
  far_.Send(wire);  // without its descriptor
  station_.Read(now_, &mail_);
  EXPECT_EQ(station_.fd(), -1);
  EXPECT_EQ(station_.figures().signallers, 0);
}

}  // namespace
}  // namespace crossover::signals
