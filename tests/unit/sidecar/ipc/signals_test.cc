#include "sidecar/ipc/signals.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "tests/unit/sidecar/ipc/fake_memory.h"

namespace crossover::ipc {
namespace {

using test::FakeMemory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kArea = 3;
constexpr turn::SlotIndex kSlot = 2;
constexpr CUcontext kNoContext = nullptr;
using Lines = gates::GpuGate::Signals;

// Its thread outlives a test: what it uses is never destroyed.
struct Client {
  crossover_page page{};
  gates::GpuGate gate;
  Signals signals;
};

// Returns a client that stays reachable, so that no sanitizer takes it for lost.
Client& NewClient() {
  static auto& all = *new std::vector<Client*>();
  return *all.emplace_back(new Client);
}

class SignalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeMemory::Clear();
    Attach(Wish::kAsOffered);
  }
  void TearDown() override { client_.signals.End(); }

  void Attach(Wish wish) {
    client_.signals.Attach(&driver_, kNoContext, wish, &client_.gate, &client_.page, kSlot);
    now_ = base::MonotonicNs();
  }

  static crossover_offer Offer(std::uint32_t state) {
    crossover_offer offer{};
    offer.state = state;
    offer.area = kArea;
    offer.bytes = FakeMemory::kBytes;
    offer.signal_version = CROSSOVER_SIGNAL_VERSION;
    return offer;
  }
  static arbiter_client::OwnFd AnyFile() {
    return arbiter_client::OwnFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

  // Returns what the client says, e.g. "want 1", "prove 3"; nothing if it says nothing.
  std::string Said() {
    arbiter_client::ToArbiter message{};
    if (!client_.signals.NextMessage(&message)) return "";
    if (message.header.type == CROSSOVER_WANT_SIGNALS) return "want " + std::to_string(message.want.want);
    number_ = message.prove.number;
    return "prove " + std::to_string(message.prove.area);
  }

  void Ask() {
    client_.signals.OnOffer(Offer(CROSSOVER_OFFER_ASK), {});
    ASSERT_EQ(Said(), "want 1");
  }
  void Give(crossover_offer offer = Offer(CROSSOVER_OFFER_GIVEN)) {
    client_.signals.OnOffer(offer, AnyFile());
  }
  void Tick(int times = 1, std::int64_t step_ns = base::kNsPerMs) {
    for (int i = 0; i < times; ++i) client_.signals.Tick(now_ += step_ns, true);
  }
  // Does as the signaller does.
  void Prove(std::uint32_t* memory = FakeMemory::words) {
    memory[(kArea * CROSSOVER_SIGNAL_AREA_BYTES + kSlot * 64) / 4 + 1] = number_;
    Answer(1);
  }
  void Answer(std::uint32_t written) {
    crossover_proof proof{};
    proof.area = kArea;
    proof.number = number_;
    proof.written = written;
    client_.signals.OnProven(proof);
  }
  void SetUpSignals() {
    Ask();
    Give();
    Tick(2);
    ASSERT_EQ(Said(), "prove 3");
    Prove();
    Tick(2);
    ASSERT_TRUE(client_.signals.awaited());
  }
  // Returns the only line of the log that `what` writes.
  template <typename What>
  std::string LineOf(What what) {
    ::testing::internal::CaptureStderr();
    what();
    return ::testing::internal::GetCapturedStderr();
  }

  const gates::Driver& driver_ = *new gates::Driver(FakeMemory::Table());
  Client& client_ = NewClient();
  std::int64_t now_ = 0;
  std::uint32_t number_ = 0;
};

TEST_F(SignalsTest, AwaitsSignalsOnlyOnceTheNumberHasComeBack) {
  Ask();
  Give();
  Tick(2);
  EXPECT_EQ(Said(), "prove 3");
  EXPECT_EQ(client_.gate.signals(), Lines::kNone);
  Prove();
  Tick();
  EXPECT_EQ(client_.gate.signals(), Lines::kNone) << "the copy has only begun";
  Tick();
  EXPECT_EQ(client_.gate.signals(), Lines::kAwaited);
  EXPECT_EQ(Said(), "");
  EXPECT_THAT(FakeMemory::calls, ElementsAre("map"));
}

TEST_F(SignalsTest, WithoutAnOfferNothingHappens) {
  Tick(100, 100 * base::kNsPerMs);
  Give();
  Tick(5);
  EXPECT_EQ(Said(), "") << "an arbiter that has not asked is not answered";
  EXPECT_THAT(FakeMemory::calls, IsEmpty());
  EXPECT_EQ(client_.signals.refused(), Reason::kNone);
}

TEST_F(SignalsTest, AJobThatAsksForSignalsSaysOnceThatNoneAreOffered) {
  Attach(Wish::kAsked);
  const std::string line = LineOf([&] { Tick(100, 100 * base::kNsPerMs); });
  EXPECT_EQ(line,
            "crossover: signals: expected an arbiter that offers signals, got none; streams wait at the "
            "turnstile alone\n");
}

TEST_F(SignalsTest, AJobThatNamesOtherGatesAsksForNone) {
  Attach(Wish::kNever);
  client_.signals.OnOffer(Offer(CROSSOVER_OFFER_ASK), {});
  EXPECT_EQ(Said(), "");
}

TEST_F(SignalsTest, InTimeSlicesAnOfferIsRefusedOnceInWords) {
  Attach(Wish::kWithoutMps);
  Tick(100, 100 * base::kNsPerMs);
  const std::string line = LineOf([&] {
    for (int i = 0; i < 3; ++i) client_.signals.OnOffer(Offer(CROSSOVER_OFFER_ASK), {});
    Tick(5);
  });
  EXPECT_EQ(line, "crossover: signals: expected MPS, got time slices; streams wait at the turnstile alone\n");
  EXPECT_EQ(Said(), "");
  EXPECT_EQ(client_.signals.refused(), Reason::kNoMps);
  EXPECT_THAT(FakeMemory::calls, IsEmpty());
}

TEST_F(SignalsTest, TheDriverIsLeftAloneWhileAStreamIsCaptured) {
  Ask();
  Give();
  for (int i = 0; i < 10; ++i) client_.signals.Tick(now_ += base::kNsPerMs, false);
  EXPECT_THAT(FakeMemory::calls, IsEmpty());
  Tick();
  EXPECT_THAT(FakeMemory::calls, ElementsAre("map"));
}

TEST_F(SignalsTest, EachRefusalIsOneLineAndTheArbiterLearnsOfIt) {
  struct Case {
    const char* said;
    Reason reason;
    void (*spoil)(crossover_offer*);
  };
  const Case cases[] = {
      {"expected an offer of version 1, got version 9", Reason::kVersion,
       [](crossover_offer* offer) { offer->signal_version = 9; }},
      {"expected an area that lies inside the offered memory, got area number 16", Reason::kArea,
       [](crossover_offer* offer) { offer->area = 16; }},
      {"got area number 0", Reason::kArea, [](crossover_offer* offer) { offer->area = 0; }},
      {"expected memory of the offered size that can be mapped, got the driver's error 1", Reason::kMapping,
       [](crossover_offer* offer) { offer->bytes = 2 * FakeMemory::kBytes; }},
      {"expected memory that the driver imports, got the error of cuMemImportFromShareableHandle 999",
       Reason::kImport, [](crossover_offer*) { FakeMemory::import_answer = CUDA_ERROR_UNKNOWN; }},
      {"expected memory of this GPU, got memory of device 4", Reason::kGpu,
       [](crossover_offer*) { FakeMemory::gpu = 4; }},
      {"expected memory that begins with the magic number of signals, got memory that begins with 17",
       Reason::kMagic, [](crossover_offer*) { FakeMemory::words[0] = 17; }},
      {"expected signals of version 1 in the memory, got version 2", Reason::kWordsVersion,
       [](crossover_offer*) { FakeMemory::words[1] = 2; }},
      {"expected a copy that ends well within 60 s, got one that failed or has not ended", Reason::kUnread,
       [](crossover_offer*) { FakeMemory::copies_work = false; }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.said);
    FakeMemory::Clear();
    Attach(Wish::kAsOffered);
    Ask();
    crossover_offer offer = Offer(CROSSOVER_OFFER_GIVEN);
    each.spoil(&offer);
    const std::string line = LineOf([&] {
      Give(offer);
      Tick(3);
    });
    EXPECT_THAT(line, HasSubstr(each.said));
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(client_.signals.refused(), each.reason);
    EXPECT_EQ(Said(), "want 0");
    Give();
    Tick(3);
    EXPECT_EQ(Said(), "") << "it is not tried again";
  }
}

TEST_F(SignalsTest, AnOfferWithoutItsDescriptorIsRefused) {
  Ask();
  client_.signals.OnOffer(Offer(CROSSOVER_OFFER_GIVEN), {});
  EXPECT_EQ(client_.signals.refused(), Reason::kDescriptor);
}

TEST_F(SignalsTest, ACopyMayStandBehindTheJobsOwnWorkForManySeconds) {
  Ask();
  Give();
  Tick();
  FakeMemory::busy = true;
  Tick(1000, 30 * base::kNsPerMs);
  EXPECT_EQ(client_.signals.refused(), Reason::kNone);
  FakeMemory::busy = false;
  Tick();
  EXPECT_EQ(Said(), "prove 3");
}

TEST_F(SignalsTest, ACopyThatDoesNotEndIsGivenUpAndItsMemoryStaysMapped) {
  Ask();
  Give();
  Tick();
  FakeMemory::busy = true;
  Tick(2050, 30 * base::kNsPerMs);
  EXPECT_EQ(client_.signals.refused(), Reason::kUnread);
  EXPECT_THAT(FakeMemory::calls, ElementsAre("map")) << "the copy may still write there";
}

TEST_F(SignalsTest, APathThatIsNotProvedIsTriedAgainWithTheNextSignallerAndNotForEver) {
  for (int tries = 1; tries <= 3; ++tries) {
    Ask();
    Give();
    Tick(2);
    EXPECT_EQ(Said(), "prove 3");
    Answer(0);
    EXPECT_EQ(client_.signals.refused(), Reason::kProofRefused);
    EXPECT_EQ(Said(), "want 0");
    for (int i = 0; i < 60; ++i) {
      ++client_.page.signaller_beat;
      Tick(1, 40 * base::kNsPerMs);
    }
    EXPECT_EQ(Said(), tries < 3 ? "want 1" : "");
  }
}

TEST_F(SignalsTest, ASignallerThatDoesNotAnswerOrCannotWriteIsRefused) {
  Ask();
  Give();
  Tick(2);
  EXPECT_EQ(Said(), "prove 3");
  Tick(21, 100 * base::kNsPerMs);
  EXPECT_EQ(client_.signals.refused(), Reason::kUnproved);
  EXPECT_THAT(FakeMemory::calls, ElementsAre("map", "unmap"));
  Prove();
  Tick(3);
  EXPECT_FALSE(client_.signals.awaited()) << "the answer comes too late";

  Attach(Wish::kAsOffered);
  Ask();
  Give();
  Tick(2);
  Said();
  Answer(0);
  EXPECT_EQ(client_.signals.refused(), Reason::kProofRefused);
}

TEST_F(SignalsTest, ANumberThatDoesNotComeBackIsRefused) {
  Ask();
  Give();
  Tick(2);
  Said();
  Prove(FakeMemory::other_words);
  Tick(2);
  EXPECT_EQ(client_.signals.refused(), Reason::kProofDiffers);
  EXPECT_EQ(client_.gate.signals(), Lines::kNone);
}

TEST_F(SignalsTest, AnyOtherOfferEndsTheWaitsAtOnceAndAnotherGivenProvesAnew) {
  SetUpSignals();
  const std::string line = LineOf([&] { client_.signals.OnOffer(Offer(CROSSOVER_OFFER_KINDS_MEET), {}); });
  EXPECT_THAT(line, HasSubstr("got another client of this GPU without them"));
  EXPECT_EQ(client_.gate.signals(), Lines::kWritten);
  EXPECT_EQ(Said(), "") << "the arbiter knows";
  EXPECT_EQ(LineOf([&] { client_.signals.OnOffer(Offer(CROSSOVER_OFFER_KINDS_MEET), {}); }), "");
  Give();
  Tick(2);
  EXPECT_EQ(Said(), "prove 3");
  Prove();
  Tick(2);
  EXPECT_EQ(client_.gate.signals(), Lines::kAwaited);
  EXPECT_THAT(FakeMemory::calls, ElementsAre("map", "map", "unmap")) << "it is the same memory";
}

TEST_F(SignalsTest, AnotherMemoryIsUsedAndTheOldOneStaysMapped) {
  SetUpSignals();
  FakeMemory::imported = FakeMemory::other_words;
  Give();
  EXPECT_EQ(client_.gate.signals(), Lines::kWritten);
  Tick(2);
  EXPECT_EQ(Said(), "prove 3");
  Prove(FakeMemory::other_words);
  Tick(2);
  EXPECT_EQ(client_.gate.signals(), Lines::kAwaited);
  EXPECT_THAT(FakeMemory::calls, ElementsAre("map", "map")) << "streams may wait in the first one";
}

TEST_F(SignalsTest, ABeatThatStandsStillEndsTheWaitsAndOneThatMovesAsksAgain) {
  SetUpSignals();
  Tick(4, 40 * base::kNsPerMs);
  EXPECT_EQ(client_.gate.signals(), Lines::kAwaited);
  const std::string line = LineOf([&] { Tick(3, 40 * base::kNsPerMs); });
  EXPECT_THAT(
      line, HasSubstr("expected a signaller whose beat changes within 200 ms, got a beat that stands still"));
  EXPECT_EQ(client_.gate.signals(), Lines::kWritten);
  EXPECT_EQ(Said(), "want 0");
  now_ = base::MonotonicNs();
  Tick(100, 40 * base::kNsPerMs);
  EXPECT_EQ(Said(), "") << "it stands still";
  for (int i = 0; i < 30; ++i) {
    ++client_.page.signaller_beat;
    Tick(1, 40 * base::kNsPerMs);
  }
  EXPECT_EQ(Said(), "want 1");
}

TEST_F(SignalsTest, AfterAnEndOfAnyKindItsOwnThreadWritesTheSignalThatStreamsWaitFor) {
  static constexpr CUstream kStream = nullptr;
  static std::uint32_t* const signal =
      &FakeMemory::words[(kArea * CROSSOVER_SIGNAL_AREA_BYTES + kSlot * 64) / 4];
  SetUpSignals();
  gates::Driver& driver = *new gates::Driver(driver_);
  driver.StreamBatchMemOp = [](CUstream, unsigned int, CUstreamBatchMemOpParams*, unsigned int) {
    return CUDA_SUCCESS;
  };
  driver.StreamDestroy = [](CUstream) { return CUDA_SUCCESS; };
  driver.StreamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
  driver.MemHostRegister = [](void*, std::size_t, unsigned int) { return CUDA_SUCCESS; };
  driver.MemHostUnregister = [](void*) { return CUDA_SUCCESS; };
  driver.MemHostGetDevicePointer = [](CUdeviceptr* device, void* memory, unsigned int) {
    *device = reinterpret_cast<CUdeviceptr>(memory);
    ++static_cast<crossover_page*>(memory)->slot[kSlot].heartbeat;  // as the store that is tried would do
    return CUDA_SUCCESS;
  };
  client_.page.slot[kSlot].heartbeat = 0;
  ASSERT_TRUE(client_.gate.SetUp(&driver, &client_.page, kSlot));
  client_.gate.AwaitSignals(reinterpret_cast<CUdeviceptr>(FakeMemory::words));
  ASSERT_TRUE(client_.gate.Acquire(kStream, turn::FirstStretch(4)));
  EXPECT_EQ(base::LoadWord(signal), 0u);
  client_.signals.Leave();
  const std::int64_t end = base::MonotonicNs() + 10 * base::kNsPerSecond;
  while (base::LoadWord(signal) != 1 && base::MonotonicNs() < end) {
  }
  EXPECT_EQ(base::LoadWord(signal), 1u);
  base::StoreWord(&client_.page.slot[kSlot].hold, turn::FirstStretch(4));
}

TEST_F(SignalsTest, AnEndedContextIsLeftAlone) {
  Ask();
  Give();
  client_.signals.End();
  Tick(5);
  EXPECT_THAT(FakeMemory::calls, IsEmpty());
  EXPECT_FALSE(client_.signals.awaited());
}

}  // namespace
}  // namespace crossover::ipc
