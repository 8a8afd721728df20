#include "simgpu/nccl/engine.h"

#include <sys/prctl.h>

#include <algorithm>

#include "common/base/futex.h"
#include "simgpu/machine/os.h"
#include "simgpu/nccl/log.h"
#include "simgpu/nccl/thread.h"

namespace simgpu::nccl {

namespace {

// A successor may close right after its last collective, while this rank still reads its own data. For this
// long, a closed connection does not count as a failure. If data must still be sent to it, this rank fails
// at once.
constexpr Nanos kGrace = 1'000'000'000;
// The forecast of a link can be too late, because another flow may leave the link early. So look again
// after this time.
constexpr Nanos kLongestSleep = constants::kEnginePoll;

bool AtOrPast(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

}  // namespace

void LetKernelEnd(std::uint32_t* done) {
  crossover::base::StoreWord(done, 1);
  crossover::base::FutexWakeAll(done);
}

Engine::Engine(std::unique_ptr<Network> network, std::uint32_t* done, std::unique_ptr<Times> times)
    : network_(std::move(network)),
      done_(done),
      times_(std::move(times)),
      thread_(StartThread([this] { Loop(); })) {}

Engine::~Engine() {
  stop_ = true;
  wake_.Raise();
  if (thread_.joinable()) thread_.join();
}

std::uint32_t Engine::Submit(std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  if (failure_.result != ncclSuccess) return 0;
  if (++submitted_ == 0) ++submitted_;  // 0 means that the task is refused
  task->number = submitted_;
  tasks_.push_back(std::move(task));
  return submitted_;
}

void Engine::Begin(std::uint32_t number) {
  if (times_) times_->Begin(number);
  begun_ = number;
  wake_.Raise();
}

void Engine::Replay(Task* task, std::uint32_t* done) {
  if (times_) times_->Begin(task->number);
  {
    const std::lock_guard lock(mutex_);
    replays_.push_back({task, done});
    if (failure_.result != ncclSuccess || finished_) EndReplays();
  }
  wake_.Raise();
}

void Engine::Abort(ncclResult_t result, const std::string& text) {
  Fail({result, text});
  wake_.Raise();
}

void Engine::Finish() {
  finishing_ = true;
  wake_.Raise();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  finished_ = true;
  EndReplays();
}

Failure Engine::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Engine::Loop() {
  prctl(PR_SET_NAME, "nccl-engine");
  ActAsHardware();
  while (Advance()) Wait();
}

bool Engine::Advance() {
  if (stop_) return false;
  for (Channel* channel : network_->Channels()) {
    if (channel->open()) channel->Flush();
  }
  if (visitor_) network_->AcceptPeers();
  if (next_speaks_) HearFromNext();
  if (!failed_) RunTasks();
  if (!failed_) JudgeNext();
  if (failed_) Spread();
  return !(finishing_ && TakeLeave());
}

void Engine::RunTasks() {
  while (run_ || StartNext()) {
    const Run::State state = run_->Advance();
    if (state == Run::State::kBusy) return;
    if (state == Run::State::kFailed) {
      // A program may see the failure by CommGetAsyncError() alone, and end. So the words come first.
      Warn(run_->failure().text);
      return Fail(run_->failure());
    }
    Complete();
  }
}

bool Engine::StartNext() {
  const std::lock_guard lock(mutex_);
  // A kernel begins when all earlier kernels of the communicator are over. So at most one has begun here.
  const bool submitted = !tasks_.empty() && AtOrPast(begun_, tasks_.front()->number);
  if (replays_.empty() && !submitted) return false;
  replays_first_ = !replays_.empty();
  Task& task = replays_first_ ? *replays_.front().task : *tasks_.front();
  if (task.ring && network_->fault().stall == rings_) return false;
  if (task.ring && network_->fault().drop == rings_) {
    for (Channel* channel : network_->Channels()) channel->Cut();
  }
  if (task.ring) task.ring_sequence = rings_++;
  run_ = task.ring ? StartRing(task, *network_) : StartTransfers(task, *network_);
  return true;
}

void Engine::Complete() {
  run_.reset();
  const std::lock_guard lock(mutex_);
  const Task& task = replays_first_ ? *replays_.front().task : *tasks_.front();
  if (times_ && task.ring) times_->End(task);
  if (replays_first_) {
    LetKernelEnd(replays_.front().done);
    replays_.pop_front();
    return;
  }
  const std::uint32_t number = task.number;
  tasks_.pop_front();
  if (failure_.result == ncclSuccess) LetKernelsEnd(number);
}

// Lets the kernels of replayed tasks end, whether or not their data has moved. REQUIRES: mutex_ is held.
void Engine::EndReplays() {
  for (const Replayed& replayed : replays_) LetKernelEnd(replayed.done);
  replays_.clear();
}

void Engine::LetKernelsEnd(std::uint32_t number) {
  crossover::base::StoreWord(done_, number);
  crossover::base::FutexWakeAll(done_);
}

void Engine::HearFromNext() {
  Channel& next = network_->next();
  if (!next.open() || next_ != Next::kThere) return;
  while (const auto frame = next.Receive()) {
    if (frame->header.kind == Kind::kBye) next_ = Next::kLeft;
    if (frame->header.kind != Kind::kError) continue;
    if (const auto error = DecodeError(frame->payload)) Fail({error->result, error->text});
  }
  if (next_ != Next::kThere || !next.closed()) return;
  next_ = Next::kLost;
  next_lost_at_ = MonotonicNow();
}

// Fails if the successor's absence matters now.
void Engine::JudgeNext() {
  if (next_ == Next::kThere) return;
  const bool needed = run_ && run_->sending();
  const bool late = next_ == Next::kLost && MonotonicNow() >= next_lost_at_ + kGrace;
  if (!needed && !late) return;
  const std::string who = network_->Describe((network_->rank() + 1) % network_->ranks());
  Fail({ncclRemoteError, who + (next_ == Next::kLeft ? " has left the communicator" : ": connection lost")});
}

void Engine::Fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.result != ncclSuccess) return;
  failure_ = failure;
  failed_ = true;
}

// Tells the other ranks about the failure and lets this rank's kernels end, once. Later calls only read and
// discard, so that no rank blocks while it sends to this one.
void Engine::Spread() {
  if (!spread_) {
    spread_ = true;
    run_.reset();
    const Failure why = failure();
    for (Channel* channel : network_->Channels()) {
      if (channel->open()) channel->Send(EncodeError({why.result, why.text}));
    }
    const std::lock_guard lock(mutex_);
    LetKernelsEnd(submitted_);
    EndReplays();
  }
  for (Channel* channel : network_->Channels()) {
    if (channel->open()) channel->Drain();
  }
}

// Sends what remains to be sent before the thread ends. Returns true once nothing is left.
bool Engine::TakeLeave() {
  {
    const std::lock_guard lock(mutex_);
    if (!failed_ && (!tasks_.empty() || !replays_.empty())) return false;
  }
  if (!failed_ && !said_bye_ && network_->prev().open()) network_->prev().Send(EncodeBye());
  said_bye_ = true;
  const auto channels = network_->Channels();
  return std::all_of(channels.begin(), channels.end(),
                     [](const Channel* c) { return c->flushed() || c->closed(); });
}

Nanos Engine::WakeAt() {
  if (failed_) return kNever;
  Nanos wake = run_ ? run_->WakeAt() : kNever;
  if (wake != kNever) wake = std::min(wake, MonotonicNow() + kLongestSleep);
  if (next_ == Next::kLost) wake = std::min(wake, next_lost_at_ + kGrace);
  return wake;
}

void Engine::Wait() {
  fds_.assign(1, {wake_.fd(), POLLIN, 0});
  if (network_->listener() >= 0) fds_.push_back({network_->listener(), POLLIN, 0});
  const auto readers = run_ ? run_->Readers() : std::vector<int>();
  for (const Channel* channel : network_->Channels()) {
    if (!channel->open() || channel->closed()) continue;
    // After a kBye only the end follows. It would wake this thread again and again.
    const bool listens = channel == &network_->next() && next_ == Next::kThere;
    const bool reads =
        failed_ || listens || std::find(readers.begin(), readers.end(), channel->fd()) != readers.end();
    const int events = (reads ? POLLIN : 0) | (channel->flushed() ? 0 : POLLOUT);
    if (events != 0) fds_.push_back({channel->fd(), static_cast<short>(events), 0});
  }
  const Nanos wake = WakeAt();
  const Nanos left = wake == kNever ? 0 : std::max<Nanos>(wake - MonotonicNow(), 0);
  const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  ppoll(fds_.data(), fds_.size(), wake == kNever ? nullptr : &timeout, nullptr);
  if ((fds_[0].revents & POLLIN) != 0) wake_.Clear();
  visitor_ = next_speaks_ = false;
  for (const pollfd& entry : fds_) {
    if (entry.revents == 0) continue;
    visitor_ = visitor_ || entry.fd == network_->listener();
    next_speaks_ = next_speaks_ || entry.fd == network_->next().fd();
  }
}

}  // namespace simgpu::nccl
