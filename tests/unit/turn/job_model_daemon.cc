#include "tests/unit/turn/job_model_daemon.h"

#include <string>

namespace crossover::turn::test {
namespace {

// ClientStats take time 0 for "never", so the model's time 0 is one second for it.
constexpr Time kStart = 1'000'000'000;

arbiter::EventKind KindOf(Event::Kind kind) {
  if (kind == Event::Kind::kArrive) return arbiter::EventKind::kArrive;
  return kind == Event::Kind::kHold ? arbiter::EventKind::kHold : arbiter::EventKind::kRelease;
}

bool IsOfBooks(Event::Kind kind) {
  return kind == Event::Kind::kArrive || kind == Event::Kind::kHold || kind == Event::Kind::kRelease;
}

}  // namespace

JobModelDaemon::JobModelDaemon(std::size_t jobs, int gpus, int gpus_here)
    : members_(static_cast<std::size_t>(gpus_here)), steps_(static_cast<std::size_t>(gpus_here)) {
  std::uint64_t id = 0;
  for (std::size_t gpu = 0; gpu < members_.size(); ++gpu) {
    auto info = std::make_shared<arbiter::GpuInfo>();
    info->uuid = "GPU-" + std::to_string(gpu);
    for (std::size_t job = 0; job < jobs; ++job) {
      auto member = std::make_shared<arbiter::Member>();
      member->id = ++id;
      member->gpu = info;
      member->slot = static_cast<SlotIndex>(job);
      member->gang = "job-" + std::to_string(job);
      member->gang_size = static_cast<std::uint32_t>(gpus);
      member->rank = static_cast<std::uint32_t>(gpu);
      members_[gpu].push_back(member);
      client_stats_.OnEvent({.kind = arbiter::EventKind::kJoin, .at = kStart, .gpu = info, .member = member});
    }
  }
}

void JobModelDaemon::OnTurn(int gpu, const Event& event) {
  if (!IsHere(gpu) || !IsOfBooks(event.kind)) return;
  const auto& member = members_[static_cast<std::size_t>(gpu)][event.slot];
  client_stats_.OnEvent({.kind = KindOf(event.kind),
                         .at = kStart + event.at,
                         .gpu = member->gpu,
                         .member = member,
                         .duration = event.duration,
                         .whole = event.whole,
                         .iteration = event.iteration,
                         .position = event.position,
                         .turns = event.turns});
}

void JobModelDaemon::OnPoll(int gpu, SlotIndex job, std::uint32_t iterations, const Policy& policy,
                            Time now) {
  if (!IsHere(gpu)) return;
  const auto index = static_cast<std::size_t>(gpu);
  if (gpu == 0) rhythm_alone_[job] = policy.timing(job).alone();
  const auto& member = members_[index][job];
  if (const auto steps = steps_[index][job].Watch(iterations, now)) {
    client_stats_.OnEvent({.kind = arbiter::EventKind::kStep,
                           .at = kStart + now,
                           .gpu = member->gpu,
                           .member = member,
                           .duration = steps->each,
                           .mode = CROSSOVER_MODE_GATE,
                           .steps = steps->count,
                           .demand = policy.DemandOf(job),
                           .jitter = policy.timing(job).jitter()});
  }
  if (now >= next_) Look(now);
}

void JobModelDaemon::OnMeasure(int gpu, SlotIndex job, Time alone, std::uint32_t over, Time now) {
  if (!IsHere(gpu)) return;
  if (gpu == 0) last_look_[job] = alone;
  const auto& member = members_[static_cast<std::size_t>(gpu)][job];
  client_stats_.OnEvent({.kind = arbiter::EventKind::kMeasure,
                         .at = kStart + now,
                         .gpu = member->gpu,
                         .member = member,
                         .duration = alone,
                         .steps = over});
}

void JobModelDaemon::Look(Time now) {
  next_ += kEach;
  const auto views = client_stats_.Gpus(kStart + now, [](const arbiter::Member&) {
    deviceplugin::SlotSnapshot words{};
    words.mode = CROSSOVER_MODE_GATE;
    words.phase = CROSSOVER_PHASE_TAKING;
    return words;
  });
  const deviceplugin::GpuView& view = views.front();
  const std::optional<double> of_one_gpu = GainOfOneGpu(view);
  if (!view.gain || !of_one_gpu) return;
  gains_.push_back(
      {.at = now, .gain = *view.gain, .error = view.gain_error, .uncertain = view.gain_uncertain()});
  of_one_gpu_.push_back(*of_one_gpu);
}

std::optional<double> JobModelDaemon::GainOfOneGpu(const deviceplugin::GpuView& view) const {
  double gain = 0;
  for (const deviceplugin::ClientView& client : view.clients) {
    const SlotIndex job = client.member->slot;
    const Time alone = last_look_[job] != 0 ? last_look_[job] : rhythm_alone_[job];
    if (!client.present_step || alone == kNever) return std::nullopt;
    gain += static_cast<double>(alone) / static_cast<double>(*client.present_step);
  }
  return gain;
}

}  // namespace crossover::turn::test
