#include "examples/trainer/share_vote.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

namespace crossover::trainer {
namespace {

constexpr std::size_t kMostKnown = 2 * ShareVote::kBehind;  // a file is read once in an iteration
constexpr std::size_t kMostBytes = 64 << 10;                // 4,096 ranks have 32 KiB

}  // namespace

ShareVote::ShareVote(const std::string& file, const Rank& rank, Gpu& gpu, Communicator& communicator)
    : file_(file), rank_(rank), gpu_(gpu), communicator_(communicator) {
  for (Slot& slot : slots_) {
    slot.sent = static_cast<float*>(gpu.AllocateHost(2 * sizeof(float)));
    slot.received = static_cast<float*>(gpu.AllocateHost(2 * sizeof(float)));
    slot.voted = static_cast<float*>(gpu.Allocate(2 * sizeof(float)));
    slot.ready = gpu.MakeEvent(false);
    slot.read = gpu.MakeEvent(false);
  }
}

// Keeps the weights that it has if the file is missing or wrong. Says once that it is wrong.
void ShareVote::ReadFile() {
  std::ifstream stream(file_);
  if (!stream) return;
  std::string text;
  for (std::istreambuf_iterator<char> byte(stream), end; byte != end && text.size() <= kMostBytes; ++byte)
    text.push_back(*byte);
  if (text == text_) return;
  text_ = text;
  const auto parsed = ParseWeights("--shares: " + file_, text, rank_.world);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    if (!std::exchange(complained_, true))
      std::fprintf(stderr, "trainer: rank %u: %s; the shares stay as they are\n", rank_.rank, wrong->c_str());
    return;
  }
  known_.push_front(std::get<Weights>(parsed));
  if (known_.size() > kMostKnown) known_.pop_back();
}

void ShareVote::Begin(std::uint64_t iteration) {
  ReadFile();
  Slot& slot = slots_[iteration % kBehind];
  slot.sent[0] = known_.empty() ? 0 : static_cast<float>(WeightsDigest(known_.front()));
  slot.sent[1] = -slot.sent[0];
  gpu_.UploadAsync(slot.voted, slot.sent, 2 * sizeof(float));
  gpu_.Record(slot.ready, gpu_.compute());
  gpu_.StreamWait(gpu_.communication(), slot.ready);
  communicator_.AllReduceMin(slot.voted, 2, gpu_.communication());
}

void ShareVote::End(std::uint64_t iteration) {
  Slot& slot = slots_[iteration % kBehind];
  gpu_.DownloadAsync(slot.received, slot.voted, 2 * sizeof(float));
  gpu_.Record(slot.read, gpu_.compute());
}

const Weights* ShareVote::Agreed(std::uint64_t iteration) {
  if (iteration < kBehind) return nullptr;
  const Slot& slot = slots_[iteration % kBehind];
  gpu_.HostWait(slot.read);
  const auto least = static_cast<std::uint32_t>(slot.received[0]);
  const auto most = static_cast<std::uint32_t>(-slot.received[1]);
  if (least != most || least == 0 || least == used_) return nullptr;
  used_ = least;
  const auto agreed = std::ranges::find(known_, least, [](const Weights& w) { return WeightsDigest(w); });
  return &*agreed;
}

}  // namespace crossover::trainer
