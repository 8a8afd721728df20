// libs: crossover_sidecar_core
// Overwrites a page while the library uses it, in a training loop with turns on a GPU that does what is
// queued. Whatever was written, the library queues operations on a turn's words alone, and never waits
// without end. Once its arbiter is lost, every stream comes to its end and no turn is taken any more.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "sidecar/arbiter_client/abandoned_pages.h"
#include "sidecar/arbiter_client/leave.h"
#include "sidecar/gates/gate.h"
#include "sidecar/log/log.h"
#include "sidecar/session/hook_flags.h"
#include "sidecar/session/session.h"
#include "sidecar/threads/thread.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/stopped_clock.h"
#include "tests/fuzz/toy_gpu.h"

// The library gets no thread: this fuzzer does what the thread would do, at moments that it chooses.
namespace crossover::threads {
bool StartThread(void* (*)(void*), void*) { return false; }
void NameThread() {}
}  // namespace crossover::threads

namespace {

using namespace crossover;  // NOLINT(google-build-using-namespace)
using fuzz::Bytes;
using fuzz::Require;
using fuzz::ToyGpu;

constexpr std::size_t kWords = sizeof(crossover_page) / sizeof(std::uint32_t);
constexpr std::size_t kCompute = 0, kSide = 1;
constexpr phase::EventKey kEvent = 0x1000;
constexpr char kCommunicator = 0;
constexpr std::size_t kMostOperations = 128;  // a turn that is left waiting is opened for a minute
constexpr int kMostWaits = 10'000;            // in one call, while the GPU does nothing
constexpr int kHelperComes = 1'000;  // waits of a millisecond until the helper has seen that nothing goes on
constexpr int kLeftoversOpen =
    20;  // waits of a millisecond from one opening of a page that was left to the next

const gates::Driver& Driver() {
  static const gates::Driver driver = ToyGpu::Table();
  return driver;
}

// A Process is one process with a job: its hooks, its helper, its GPU, and the pages that it was given.
class Process {
 public:
  explicit Process(Bytes* input) : input_(*input), clock_([this] { OthersGoOn(); }) {
    log::SetLevel(log::Level::kError);
    session::hook_flags = 0;
    session::watching = false;
    session_->WatchKernels(false);
    gpu_.on_wait = [this] { OthersGoOn(); };
    const std::uint8_t how = input_.NextByte();
    gpu_.registers_pages = (how & 1) == 0;  // else host gates
    session_->SetUp(&Driver(), reinterpret_cast<CUcontext>(0x77), CROSSOVER_TRANSPORT_GPU_GATES,
                    (how & 2) == 0);
    session_->OnCommunicator(&kCommunicator, 4);
    Join();
  }

  void Step() {
    waits_ = 0;
    switch (input_.NextByte() % 14) {
      case 0:
        return Scribble();
      case 1:
        return ScribbleNear();
      case 2:
        return Iterations(1 + input_.NextByte() % 4);
      case 3:
        return Launch(NextStream());
      case 4:
        return Collective(input_.NextByte() % 4, NextStream());
      case 5:
        return Wait(NextStream(), input_.NextByte());
      case 6:
        if (page_ != nullptr) session_->OnTick();
        return;
      case 7:
        return Profile();
      case 8:
        return gpu_.Run();
      case 9:
        return CreateOrDestroy(NextStream());
      case 10:
        return Capture(NextStream());
      case 11:
        return Ask(input_.NextByte());
      case 12:
        gpu_.refuses_memory_operations = input_.NextByte() % 8 == 0;
        return;
      default:
        return LoseOrJoin();
    }
  }

  void End() {
    for (std::size_t stream = 0; stream < ToyGpu::kStreams; ++stream) EndCapture(stream);
    if (page_ != nullptr) Lose();
    // The thread of the leftovers goes on like this.
    std::size_t tries = 0;
    for (gpu_.Run(); !gpu_.Idle(); gpu_.Run()) {
      Require(++tries <= 8 * kMostOperations);
      abandoned_pages_->Tend();
    }
    const std::uint64_t queued = gpu_.queued();
    Iterations(2);
    Require(gpu_.queued() == queued);
  }

 private:
  // Runs while this process waits, or while one of its streams does.
  void OthersGoOn() {
    gpu_.Run();
    if (std::exchange(done_, gpu_.done()) != gpu_.done()) waits_ = 0;
    Require(++waits_ < kMostWaits);
    if (waits_ % kLeftoversOpen == 0) abandoned_pages_->Tend();
    if (page_ == nullptr) return;
    if (!input_.empty() && input_.NextByte() % 2 == 0) Scribble();
    if (waits_ % kHelperComes == 0) gates::OpenOwnGate(page_, slot_, session_->Asked());
  }

  std::uint32_t* Words() { return reinterpret_cast<std::uint32_t*>(page_); }

  void Scribble() {
    const std::size_t index = input_.Next<std::uint16_t>() % kWords;
    const auto value = input_.Next<std::uint32_t>();
    if (page_ != nullptr) base::StoreWord(Words() + index, value);
  }

  // Writes near the turn that was asked for last, at the most harmful place.
  void ScribbleNear() {
    constexpr std::size_t kHurt[] = {offsetof(crossover_slot, ready),
                                     offsetof(crossover_slot, hold),
                                     offsetof(crossover_slot, rel),
                                     offsetof(crossover_slot, gate),
                                     offsetof(crossover_slot, mode),
                                     offsetof(crossover_slot, successor),
                                     offsetof(crossover_slot, turns),
                                     offsetof(crossover_slot, alive),
                                     offsetof(crossover_slot, stretch_launches),
                                     offsetof(crossover_slot, slice_bits)};
    const std::size_t offset = kHurt[input_.NextByte() % std::size(kHurt)];
    const auto value = session_->Asked() + static_cast<std::uint32_t>(input_.Next<std::int16_t>());
    if (page_ == nullptr) return;
    base::StoreWord(Words() + (offsetof(crossover_page, slot) + slot_ * sizeof(crossover_slot) + offset) / 4,
                    value);
  }

  // Writes what the arbiter asks of the client, and may let the client in.
  void Ask(std::uint8_t what) {
    if (page_ == nullptr) return;
    if ((what & 0x80) != 0) gates::OpenOwnGate(page_, slot_, session_->Asked());
    base::StoreWord(&page_->slot[slot_].mode, what % 4);
    base::StoreWord(&page_->arbiter_beat, page_->arbiter_beat + 1);
  }

  std::size_t NextStream() {
    const std::size_t stream = input_.NextByte() % ToyGpu::kStreams;
    return gpu_.Exists(stream) ? stream : kCompute;
  }

  void Launch(std::size_t stream) {
    if (session::hook_flags != 0) session_->BeforeLaunch(ToyGpu::KeyOf(stream));
    if (!gpu_.Captured(stream)) gpu_.Kernel(stream);
  }
  void Collective(std::uint64_t count, std::size_t stream) {
    session_->BeforeCollective(&kCommunicator, {0, 0, count, 7, 0, 0}, ToyGpu::KeyOf(stream));
  }

  void Iterations(int count) {
    const std::size_t side = gpu_.Exists(kSide) ? kSide : kCompute;
    for (int i = 0; i < count; ++i) {
      waits_ = 0;
      Launch(kCompute);
      Launch(kCompute);
      Collective(10, side);
      Launch(kCompute);
      Collective(20, side);
      session_->OnRecord(kEvent, ToyGpu::KeyOf(side));
      session_->OnStreamWait(ToyGpu::KeyOf(kCompute), kEvent);
      Launch(kCompute);
    }
  }

  void Wait(std::size_t stream, std::uint8_t how) {
    const phase::StreamKey key = ToyGpu::KeyOf(stream);
    if (how % 6 == 0) session_->OnRecord(kEvent, key);
    if (how % 6 == 1) session_->OnStreamWait(key, kEvent);
    if (how % 6 == 2) session_->OnHostWaitEvent(kEvent);
    if (how % 6 == 3) session_->OnHostWaitStream(key);
    if (how % 6 == 4) session_->OnHostSawStream(key);
    if (how % 6 == 5) session_->OnHostWaitContext();
  }

  void Profile() {
    crossover_profile profile{};
    if (page_ == nullptr || !session_->FillProfile(&profile)) return;
    Require(profile.transport <= CROSSOVER_TRANSPORT_RELAYED_GATES);
  }

  void CreateOrDestroy(std::size_t stream) {
    if (stream == kCompute || gpu_.Captured(stream)) {
      for (std::size_t other = 0; other < ToyGpu::kStreams; ++other) {
        if (gpu_.Exists(other)) continue;
        gpu_.Create(other);
        session_->OnStreamCreate();
      }
      return;
    }
    session_->OnStreamDestroy(ToyGpu::KeyOf(stream));
    gpu_.Destroy(stream);
  }

  void Capture(std::size_t stream) {
    if (gpu_.Captured(stream)) return EndCapture(stream);
    session_->OnBeginCapture({ToyGpu::KeyOf(stream)});
    gpu_.Capture(stream, true);
  }
  void EndCapture(std::size_t stream) {
    if (!gpu_.Captured(stream)) return;
    gpu_.Capture(stream, false);
    session_->OnEndCapture(ToyGpu::KeyOf(stream));
  }

  void Join() {
    page_ = pages_[joined_++].get();
    slot_ = input_.NextByte() % CROSSOVER_MAX_CLIENTS;
    *page_ = {CROSSOVER_TURNSTILE_MAGIC,
              CROSSOVER_TURNSTILE_VERSION,
              sizeof(crossover_page),
              CROSSOVER_MAX_CLIENTS,
              0,
              0,
              0,
              {},
              {}};
    page_->slot[slot_].mode = CROSSOVER_MODE_OBSERVE;
    page_->slot[slot_].rel = page_->slot[slot_].ready = page_->slot[slot_].hold =
        input_.Next<std::uint32_t>();
    Require(session_->Attach(page_, slot_));
  }
  void Lose() {
    session_->StopTaking();
    arbiter_client::LetGo(session_.get(), {page_, slot_}, abandoned_pages_.get());
    page_ = nullptr;
  }
  void LoseOrJoin() {
    for (std::size_t stream = 0; stream < ToyGpu::kStreams; ++stream) EndCapture(stream);
    if (page_ != nullptr) {
      Lose();
    } else if (joined_ < std::size(pages_)) {
      Join();
    }
  }

  Bytes& input_;
  ToyGpu gpu_;
  fuzz::StoppedClock clock_;
  std::unique_ptr<session::Session> session_ = std::make_unique<session::Session>();
  std::unique_ptr<arbiter_client::AbandonedPages> abandoned_pages_ =
      std::make_unique<arbiter_client::AbandonedPages>();
  std::array<std::unique_ptr<crossover_page>, 3> pages_ = {std::make_unique<crossover_page>(),
                                                           std::make_unique<crossover_page>(),
                                                           std::make_unique<crossover_page>()};
  std::size_t joined_ = 0;
  crossover_page* page_ = nullptr;  // of the arbiter that is there
  turn::SlotIndex slot_ = 0;
  int waits_ = 0;           // in the present call, since the GPU last did something
  std::uint64_t done_ = 0;  // by the GPU, at the last wait
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input(data, size);
  Process process(&input);
  for (std::size_t i = 0; i < kMostOperations && !input.empty(); ++i) process.Step();
  process.End();
  return 0;
}
