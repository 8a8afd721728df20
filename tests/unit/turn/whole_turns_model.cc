#include "tests/unit/turn/whole_turns_model.h"

#include <algorithm>
#include <queue>
#include <random>

#include "tests/unit/turn/plain_memory.h"

namespace crossover::turn::test {
namespace {

constexpr Time kShortestPoll = 20'000;
constexpr Time kLongestPoll = 1'000'000;

constexpr std::size_t kDecided = 16;

enum class State : std::uint8_t { kOutside, kWaits, kEnters, kComputes, kSpins };

// A Client is one job's rank on one GPU.
struct Client {
  State state = State::kOutside;
  TurnNumber k = 0;
  double left = 0;                      // ns of compute
  std::uint64_t stamp = 0;              // an event with an older one is outdated
  Slice slice;                          // of its host
  std::uint32_t decided = 0;            // turns of which the host knows whether they end a slice
  bool ends[kDecided] = {};             // whether they do, by turn
  SlotIndex successor[kMaxTurns] = {};  // by segment, as the host chose it
  std::uint32_t open[kMaxTurns] = {};
};

struct Gpu {
  PlainMemory memory;
  Turnstile turnstile;
  Client client[kMaxSlots];
  Time at = 0;               // up to when compute has been counted
  SlotIndex last = kNobody;  // the job that was let in last
};

struct Event {
  Time at;
  std::uint64_t tie;  // drawn: events of one instant come in any order
  enum class Kind : std::uint8_t { kAsk, kEnter, kComputed, kCollective, kPoll } kind;
  int gpu;
  SlotIndex job;
  std::uint64_t stamp;
};
struct Later {
  bool operator()(const Event& a, const Event& b) const { return a.at != b.at ? a.at > b.at : a.tie > b.tie; }
};

class Model {
 public:
  explicit Model(const WholeTurnsOptions& options)
      : options_(options), random_(options.seed), gpus_(static_cast<std::size_t>(options.gpus)) {
    result_.ends.resize(options.jobs);
    for (int g = 0; g < options.gpus; ++g) {
      Turnstile& turnstile = At(g).turnstile;
      for (SlotIndex job = 0; job < options.jobs; ++job) {
        turnstile.Join(job, job);
        turnstile.SetTurns(job, static_cast<std::uint32_t>(options.segments.size()));
        turnstile.SetIterationOffset(job, options.first_iteration - 1);
        turnstile.SetGated(job, true);
        Push(job * options.offset + Draw(kShortestPoll), Event::Kind::kAsk, g, job);
      }
      turnstile.SetTurnsLast(options.told);
      turnstile.AllowSlices(HasSlices(g));
      if (options.start_crossed) At(g).memory.Set(g % 2 != 0 ? 1 : 0, Word::kGate, FirstStretch(1));
      Push(Draw(kLongestPoll), Event::Kind::kPoll, g, 0);
    }
  }

  WholeTurnsResult Run() {
    while (!Done()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.at;
      Handle(event);
    }
    for (Gpu& gpu : gpus_) {
      const Stats& stats = gpu.turnstile.stats();
      result_.stats.opened += stats.opened;
      result_.stats.minted += stats.minted;
      result_.stats.turns += stats.turns;
      result_.sliced += gpu.turnstile.slices().on() ? 1 : 0;
    }
    return std::move(result_);
  }

 private:
  Gpu& At(int g) { return gpus_[static_cast<std::size_t>(g)]; }
  Time Draw(Time longest) {
    return longest == 0 ? 0 : static_cast<Time>(random_() % static_cast<std::uint64_t>(longest));
  }
  const Segment& SegmentOf(TurnNumber k) const { return options_.segments[Place(k)]; }
  std::size_t Place(TurnNumber k) const {
    return PositionOf(k, static_cast<std::uint32_t>(options_.segments.size()));
  }
  bool Done() const {
    return std::all_of(result_.ends.begin(), result_.ends.end(), [this](const auto& ends) {
      return ends.size() >= static_cast<std::size_t>(options_.iterations);
    });
  }
  void Push(Time at, Event::Kind kind, int gpu, SlotIndex job, std::uint64_t stamp = 0) {
    queue_.push({at, random_(), kind, gpu, job, stamp});
  }

  void Handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kAsk:
        return Ask(event.gpu, event.job);
      case Event::Kind::kEnter:
        return Enter(event.gpu, event.job);
      case Event::Kind::kComputed:
        if (event.stamp == At(event.gpu).client[event.job].stamp) Computed(event.gpu, event.job);
        return;
      case Event::Kind::kCollective:
        return EndCollective(event.job);
      case Event::Kind::kPoll:
        return Poll(event.gpu);
    }
  }

  void Ask(int g, SlotIndex job) {
    Gpu& gpu = At(g);
    Client& client = gpu.client[job];
    client.k = NextTurn(client.k);
    client.state = State::kWaits;
    gpu.memory.Do(Acquire(job, client.k)[0]);
    LetIn(g);
  }

  void LetIn(int g) {
    Gpu& gpu = At(g);
    for (SlotIndex job = 0; job < options_.jobs; ++job) {
      Client& client = gpu.client[job];
      if (client.state != State::kWaits) continue;
      if (!AtOrPast(gpu.memory.Load(job, Word::kGate), client.k)) continue;
      client.state = State::kEnters;
      const Time switched = gpu.last == job ? 0 : options_.switch_cost;
      gpu.last = job;
      Push(now_ + options_.hand_over + switched, Event::Kind::kEnter, g, job);
    }
  }

  void Enter(int g, SlotIndex job) {
    Gpu& gpu = At(g);
    Client& client = gpu.client[job];
    gpu.memory.Do(Acquire(job, client.k)[2]);
    gpu.memory.Do(Acquire(job, client.k)[3]);
    CountCompute(&gpu);
    client.state = State::kComputes;
    client.left = static_cast<double>(SegmentOf(client.k).compute + Draw(options_.noise));
    Schedule(g);
  }

  bool HasSlices(int g) const {
    using Slices = WholeTurnsOptions::Slices;
    return options_.slices == Slices::kOnAllGpus || (options_.slices != Slices::kNone && g % 2 == 0);
  }

  // Returns whether turn `k` is the last of its slice. The host decides that in the order of its turns, by
  // the page as it is at that moment.
  bool EndsSlice(int g, SlotIndex job, TurnNumber k) {
    Gpu& gpu = At(g);
    Client& client = gpu.client[job];
    const bool for_ever = options_.slices == WholeTurnsOptions::Slices::kOnEvenGpusForEver;
    const bool on = for_ever ? HasSlices(g) : gpu.turnstile.slices().on();
    while (client.decided < TurnOf(k)) {
      ++client.decided;
      const std::uint32_t iteration =
          options_.first_iteration + client.decided / static_cast<std::uint32_t>(options_.segments.size());
      client.ends[client.decided % kDecided] = client.slice.Ends(iteration, on ? kSliceBits : 0);
    }
    return client.ends[TurnOf(k) % kDecided];
  }

  SlotIndex SuccessorOf(int g, SlotIndex job, TurnNumber k) {
    return EndsSlice(g, job, k) ? At(g).turnstile.successor(job, k) : job;
  }

  // Chooses the successor of the turn that has this segment in the next iteration: the host is one
  // iteration ahead of its GPU.
  void Choose(int g, SlotIndex job) {
    Gpu& gpu = At(g);
    Client& client = gpu.client[job];
    TurnNumber k = client.k;
    for (std::size_t turn = 0; turn < options_.segments.size(); ++turn) k = NextTurn(k);
    const SlotIndex successor = SuccessorOf(g, job, k);
    client.successor[Place(k)] = successor;
    client.open[Place(k)] = OpenFor(job, k, successor, gpu.memory.Load(successor, Word::kReady));
  }

  // Returns the share of the GPU's time that each client gets. All clients that compute or spin have equal
  // shares.
  double Speed(const Gpu& gpu) const {
    int active = 0;
    for (const Client& client : gpu.client)
      active += client.state == State::kComputes || client.state == State::kSpins ? 1 : 0;
    return 1.0 / std::max(1, active);
  }
  void CountCompute(Gpu* gpu) {
    for (Client& client : gpu->client)
      if (client.state == State::kComputes) client.left -= static_cast<double>(now_ - gpu->at) * Speed(*gpu);
    gpu->at = now_;
  }
  void Schedule(int g) {
    Gpu& gpu = At(g);
    for (SlotIndex job = 0; job < options_.jobs; ++job) {
      Client& client = gpu.client[job];
      if (client.state != State::kComputes) continue;
      const auto left = static_cast<Time>(std::max(0.0, client.left) / Speed(gpu)) + 1;
      Push(now_ + left, Event::Kind::kComputed, g, job, ++client.stamp);
    }
  }

  void Computed(int g, SlotIndex job) {
    Gpu& gpu = At(g);
    CountCompute(&gpu);
    gpu.client[job].state = State::kSpins;
    Schedule(g);
    if (++joined_[job] < options_.gpus) return;
    joined_[job] = 0;
    Push(now_ + SegmentOf(gpu.client[job].k).communicate, Event::Kind::kCollective, 0, job);
  }

  void EndCollective(SlotIndex job) {
    if (Place(NextTurn(At(0).client[job].k)) == 0) result_.ends[job].push_back(now_);
    for (int g = 0; g < options_.gpus; ++g) {
      Gpu& gpu = At(g);
      CountCompute(&gpu);
      const Client& client = gpu.client[job];
      const std::size_t place = Place(client.k);
      const bool chosen = TurnOf(client.k) > options_.segments.size();
      const SlotIndex successor = chosen ? client.successor[place] : SuccessorOf(g, job, client.k);
      const std::uint32_t open =
          chosen ? client.open[place]
                 : OpenFor(job, client.k, successor, gpu.memory.Load(successor, Word::kReady));
      for (const Op& op : Release(job, client.k, successor, open)) gpu.memory.Do(op);
      Choose(g, job);
      gpu.client[job].state = State::kOutside;
      Schedule(g);
      if (options_.ask_gap > 0) {
        LetIn(g);
        Push(now_ + Draw(options_.ask_gap), Event::Kind::kAsk, g, job);
      } else {
        Ask(g, job);
      }
    }
  }

  void Poll(int g) {
    Gpu& gpu = At(g);
    const Time wanted = gpu.turnstile.Poll(gpu.memory, now_);
    LetIn(g);
    Push(std::clamp(wanted, now_ + kShortestPoll, now_ + kLongestPoll), Event::Kind::kPoll, g, 0);
  }

  const WholeTurnsOptions options_;
  std::mt19937_64 random_;
  std::vector<Gpu> gpus_;
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
  int joined_[kMaxSlots] = {};
  Time now_ = 0;
  WholeTurnsResult result_;
};

}  // namespace

WholeTurnsResult RunWholeTurns(const WholeTurnsOptions& options) { return Model(options).Run(); }

double WorkOverBackToBack(const WholeTurnsOptions& options, const WholeTurnsResult& result,
                          std::size_t warm_up) {
  Time alone = 0;
  for (const Segment& segment : options.segments) alone += segment.compute + segment.communicate;
  Time begin = 0, end = kNever;
  for (const std::vector<Time>& ends : result.ends) {
    begin = std::max(begin, ends[warm_up]);
    end = std::min(end, ends[static_cast<std::size_t>(options.iterations) - 1]);
  }
  double work = 0;
  for (const std::vector<Time>& ends : result.ends) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), begin);
    work +=
        static_cast<double>(std::upper_bound(first, ends.end(), end) - first) * static_cast<double>(alone);
  }
  return work / static_cast<double>(end - begin);
}

double GainOverBackToBack(const WholeTurnsOptions& options, const WholeTurnsResult& result,
                          std::size_t warm_up) {
  Time alone = 0;
  for (const Segment& segment : options.segments) alone += segment.compute + segment.communicate;
  double gain = 0;
  for (const std::vector<Time>& ends : result.ends) {
    const auto iterations = static_cast<double>(ends.size() - 1 - warm_up);
    gain += static_cast<double>(alone) * iterations / static_cast<double>(ends.back() - ends[warm_up]);
  }
  return gain;
}

}  // namespace crossover::turn::test
