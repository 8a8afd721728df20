#include "deviceplugin/signaller/signaller.h"

#include <utility>

#include "common/base/clock.h"
#include "common/base/refusal.h"
#include "common/logging/log.h"
#include "turn/signal_memory.h"

namespace crossover::signaller {
namespace {

constexpr turn::Time kConnectPeriod = base::kNsPerSecond;
// An administrator may change the compute mode of a GPU in use.
constexpr turn::Time kModePeriod = base::kNsPerSecond;
// Messages of the arbiter wake no futex.
constexpr turn::Time kLongestSleep = 20 * base::kNsPerMs;
constexpr int kMostMessagesPerLook = 8;

}  // namespace

bool Signaller::Start(std::string* error) {
  return LoadDriver(&driver_, error) && OpenGpu(driver_, options_.no_mps, options_.gpu_uuid, &device_, error);
}

std::optional<std::string> Signaller::Run() {
  for (std::string error;;) {
    const turn::Time now = base::MonotonicNs();
    MeetArbiter(now);
    if (rests_) return std::nullopt;
    if (now >= ask_mode_at_) {
      ask_mode_at_ = now + kModePeriod;
      if (!MayHaveContext(driver_, device_, &error)) return error;
    }
    if (!pages_.Look(now, &error)) return error;
    if (pages_.empty()) {
      link_.Wait(kLongestSleep);
    } else {
      pages_.Wait(now, kLongestSleep);
    }
  }
}

void Signaller::Say(logging::Level level, const std::string& text) const {
  logging::Write(level, options_.gpu_uuid + ": " + text);
}

void Signaller::MeetArbiter(turn::Time now) {
  if (!link_.connected() && now >= connect_again_) {
    std::string error;
    connect_again_ = now + kConnectPeriod;
    const bool connected = link_.Connect(options_.socket, options_.gpu_uuid, /*rests=*/false, &error);
    if (!connected && error != said_) Say(logging::Level::kWarn, "the arbiter is not reached: " + error);
    if (connected && said_refusal_.empty())
      Say(logging::Level::kInfo, "the arbiter at " + options_.socket + " is reached");
    said_ = error;
  }
  for (int i = 0; i < kMostMessagesPerLook; ++i) {
    Received received;
    const LinkState state = link_.Receive(memory_ == nullptr ? SIZE_MAX : memory_->bytes(), &received);
    if (state == LinkState::kEnded) {
      Say(logging::Level::kWarn,
          "the arbiter has ended the connection; this signaller follows the turnstiles that it knows without "
          "the arbiter");
      connect_again_ = now + kConnectPeriod;
    }
    if (state != LinkState::kMessage) return;
    Take(std::move(received));
  }
}

void Signaller::Take(Received received) {
  if (const auto* broken = std::get_if<Broken>(&received.message)) {
    Say(logging::Level::kError, "the arbiter: " + broken->reason);
    link_.Close();
  } else if (const auto* refused = std::get_if<Refused>(&received.message)) {
    if (refused->reason != said_refusal_)
      Say(logging::Level::kWarn, "the arbiter refuses: " + refused->reason);
    said_refusal_ = refused->reason;
  } else if (const auto* rest = std::get_if<Rest>(&received.message)) {
    rests_ = rest->rest;
  } else if (const auto* prove = std::get_if<Prove>(&received.message)) {
    std::string error;
    const bool written = memory_->WriteProof(prove->area, prove->line, prove->number, &error);
    if (!written)
      Say(logging::Level::kError,
          "cannot write the number by which a client checks the signals, so the client waits without them: " +
              error);
    link_.SendProven(*prove, written);
  } else if (const auto* follow = std::get_if<signaller::Follow>(&received.message)) {
    std::string error;
    const std::uint32_t area = Follow(*follow, std::move(received.descriptors), &error);
    if (area == 0) {
      Say(logging::Level::kError, "cannot follow a turnstile, so its clients wait without signals: " + error);
      link_.SendRefused(error);
    } else if (link_.SendSignals(area, memory_->bytes(), memory_->fd())) {
      said_refusal_.clear();
      Say(logging::Level::kInfo, "follows a turnstile, with the signals of area " + std::to_string(area));
    }
  }
}

std::uint32_t Signaller::Follow(const signaller::Follow& follow, std::vector<base::UniqueFd> descriptors,
                                std::string* error) {
  auto page = FollowedPage::Map(descriptors[0].get(), error);
  if (page == nullptr) return 0;
  if (!HaveMemory(follow.kept, &descriptors, error)) return 0;
  const std::uint32_t areas = turn::AreasOf(memory_->bytes());
  if (follow.area > areas) {
    *error = base::Refusal("follow: area", "0 to " + std::to_string(areas), std::to_string(follow.area));
    return 0;
  }
  return pages_.Add(memory_, std::move(page), follow.kept ? follow.area : 0, base::MonotonicNs(), error);
}

// Makes sure that `memory_` is the memory for the next turnstile. If the arbiter has `kept` one, this is the
// second of `descriptors`, in which clients may wait already. Else `memory_` stays, or is made. Returns
// false, with the reason in `error`, on failure.
bool Signaller::HaveMemory(bool kept, std::vector<base::UniqueFd>* descriptors, std::string* error) {
  if (!kept && memory_ != nullptr) return true;
  std::shared_ptr<SignalMemory> memory =
      kept ? SignalMemory::Import(driver_, device_, std::move((*descriptors)[1]), error)
           : SignalMemory::Make(driver_, device_, error);
  if (memory == nullptr) return false;
  memory_ = std::move(memory);
  return true;
}

}  // namespace crossover::signaller
