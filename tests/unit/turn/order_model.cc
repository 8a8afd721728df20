#include "tests/unit/turn/order_model.h"

#include <algorithm>
#include <queue>
#include <random>

#include "deviceplugin/arbiter/pacing.h"

namespace crossover::turn::test {
namespace {

constexpr SlotIndex kJobs = 2;

struct Memory {
  std::uint32_t word[kMaxSlots][4] = {};
  std::uint32_t Load(SlotIndex slot, Word w) const { return word[slot][static_cast<int>(w)]; }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    std::uint32_t& gate = word[slot][static_cast<int>(Word::kGate)];
    if (gate != expected) return false;
    gate = desired;
    return true;
  }
  void Perform(const Op& op) {
    if (op.kind == Op::Kind::kWrite) word[op.slot][static_cast<int>(op.word)] = op.value;
  }
  bool Passes(SlotIndex slot, TurnNumber k) const { return AtOrPast(Load(slot, Word::kGate), k); }
};

struct Event {
  Time at;
  std::uint64_t tie;  // random: what happens at the same instant happens in any order
  enum class Kind : std::uint8_t { kArrive, kStart, kRelease, kPoll } kind;
  int gpu;
  SlotIndex job;
  std::uint64_t stamp;  // kPoll: outdated if it is not the GPU's last
};
struct Later {
  bool operator()(const Event& a, const Event& b) const { return a.at != b.at ? a.at > b.at : a.tie > b.tie; }
};

struct Gpu {
  Memory memory;
  Turnstile turnstile;
  TurnNumber turn[kJobs] = {};
  bool starting[kJobs] = {};  // let in, hand-over cost still running
  int computing = 0;
  std::uint64_t poll_stamp = 0;
};

class Model {
 public:
  explicit Model(const OrderModelOptions& options)
      : options_(options), random_(options.seed), gpus_(static_cast<std::size_t>(options.gpus)) {
    Settings settings;
    settings.policy.tie_rule = options.tie_rule;
    for (int g = 0; g < options.gpus; ++g) {
      Gpu& gpu = gpus_[static_cast<std::size_t>(g)];
      gpu.turnstile.set_settings(settings);
      for (SlotIndex job = 0; job < kJobs; ++job) {
        gpu.turnstile.Join(job, job);
        gpu.turnstile.SetGated(job, true);
      }
      // The token starts with the client that is to go first.
      const SlotIndex first = options.start_trapped && g % 2 != 0 ? 1 : 0;
      gpu.memory.word[first][static_cast<int>(Word::kGate)] = FirstStretch(1);
      Push(static_cast<Time>(random_() % 100'000), Event::Kind::kPoll, g, 0, 0);
    }
    for (SlotIndex job = 0; job < kJobs; ++job) {
      left_[job] = options.gpus;
      StartIteration(job, job == 0 ? 0 : options.second_job_starts);
    }
  }

  OrderModelResult Run() {
    while (!queue_.empty() && !Done()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.at;
      switch (event.kind) {
        case Event::Kind::kArrive:
          Arrive(event.gpu, event.job);
          break;
        case Event::Kind::kStart:
          Start(event.gpu, event.job);
          break;
        case Event::Kind::kRelease:
          ReleaseTurn(event.gpu, event.job);
          break;
        case Event::Kind::kPoll:
          Poll(event);
          break;
      }
    }
    for (const Gpu& gpu : gpus_) Sum(gpu.turnstile.stats());
    return result_;
  }

 private:
  bool Done() const {
    const auto wanted = static_cast<std::size_t>(options_.iterations);
    return result_.ends[0].size() >= wanted && result_.ends[1].size() >= wanted;
  }

  void Sum(const Stats& stats) {
    result_.stats.turns += stats.turns;
    result_.stats.handed_over += stats.handed_over;
    result_.stats.granted += stats.granted;
    result_.stats.minted += stats.minted;
    result_.stats.swallowed += stats.swallowed;
    result_.stats.rest_while_ready += stats.rest_while_ready;
  }

  void Push(Time at, Event::Kind kind, int gpu, SlotIndex job, std::uint64_t stamp) {
    queue_.push({at, random_(), kind, gpu, job, stamp});
  }

  // The draw of one rank and iteration: the same in a run and in its reference.
  Time Compute(int gpu, SlotIndex job) const {
    if (options_.jitter == 0) return options_.compute;
    std::seed_seq seed{static_cast<std::uint64_t>(gpu), static_cast<std::uint64_t>(job),
                       static_cast<std::uint64_t>(result_.ends[job].size()), options_.seed};
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(1.0, options_.jitter);
    const double factor = std::clamp(normal(generator), 1 - 3 * options_.jitter, 1 + 3 * options_.jitter);
    return static_cast<Time>(static_cast<double>(options_.compute) * factor);
  }

  void StartIteration(SlotIndex job, Time at) {
    for (int g = 0; g < options_.gpus; ++g) Push(at, Event::Kind::kArrive, g, job, 0);
  }

  void Arrive(int g, SlotIndex job) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(g)];
    gpu.turn[job] = NextTurn(gpu.turn[job]);
    gpu.memory.Perform(Acquire(job, gpu.turn[job])[0]);
    LetIn(g);
  }

  // Whoever waits at an open gate is on its way in.
  void LetIn(int g) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(g)];
    for (SlotIndex job = 0; job < kJobs; ++job) {
      const bool waits = gpu.memory.Load(job, Word::kReady) != gpu.memory.Load(job, Word::kHold);
      if (!waits || gpu.starting[job] || !gpu.memory.Passes(job, gpu.turn[job])) continue;
      gpu.starting[job] = true;
      Push(now_ + options_.hand_over, Event::Kind::kStart, g, job, 0);
    }
  }

  void Start(int g, SlotIndex job) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(g)];
    gpu.starting[job] = false;
    const auto acquire = Acquire(job, gpu.turn[job]);
    gpu.memory.Perform(acquire[2]);
    gpu.memory.Perform(acquire[3]);
    if (++gpu.computing > 1) ++result_.overlaps;
    Push(now_ + Compute(g, job), Event::Kind::kRelease, g, job, 0);
  }

  void ReleaseTurn(int g, SlotIndex job) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(g)];
    --gpu.computing;
    const SlotIndex successor = gpu.turnstile.successor(job, gpu.turn[job]);
    const std::uint32_t open =
        OpenFor(job, gpu.turn[job], successor, gpu.memory.Load(successor, Word::kReady));
    for (const Op& op : Release(job, gpu.turn[job], successor, open)) gpu.memory.Perform(op);
    LetIn(g);
    if (--left_[job] > 0) return;
    left_[job] = options_.gpus;
    result_.ends[job].push_back(now_ + options_.communicate);
    StartIteration(job, now_ + options_.communicate);
  }

  void Poll(const Event& event) {
    Gpu& gpu = gpus_[static_cast<std::size_t>(event.gpu)];
    if (event.stamp != gpu.poll_stamp) return;
    // As the daemon paces itself.
    const Time wanted = gpu.turnstile.Poll(gpu.memory, now_);
    const Time next = arbiter::PacePoll(now_, wanted, gpu.turnstile.policy(), gpu.turnstile.gated());
    LetIn(event.gpu);
    Push(std::clamp(next, now_ + arbiter::kShortestPoll, now_ + arbiter::kSparsePoll), Event::Kind::kPoll,
         event.gpu, 0, ++gpu.poll_stamp);
  }

  const OrderModelOptions options_;
  std::mt19937_64 random_;
  std::vector<Gpu> gpus_;
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
  int left_[kJobs] = {};
  Time now_ = 0;
  OrderModelResult result_;
};

}  // namespace

OrderModelResult RunOrderModel(const OrderModelOptions& options) { return Model(options).Run(); }

double MeanStep(const OrderModelResult& result, int first, int window) {
  double sum = 0;
  for (const std::vector<Time>& ends : result.ends) {
    const Time from = first == 0 ? 0 : ends[static_cast<std::size_t>(first - 1)];
    sum += static_cast<double>(ends[static_cast<std::size_t>(first + window - 1)] - from) / window;
  }
  return sum / 2;
}

int IterationsUntil(const OrderModelResult& result, const OrderModelResult& reference, double share,
                    int window) {
  const int last = static_cast<int>(std::min(result.ends[0].size(), result.ends[1].size())) - window;
  for (int first = 1; first <= last; ++first) {
    if (MeanStep(reference, first, window) / MeanStep(result, first, window) >= share) return first;
  }
  return last;
}

OrderModelOptions ReferenceOf(const OrderModelOptions& options) {
  OrderModelOptions reference = options;
  reference.hand_over = 0;
  reference.second_job_starts = options.compute;
  reference.start_trapped = false;
  reference.tie_rule = true;
  return reference;
}

}  // namespace crossover::turn::test
