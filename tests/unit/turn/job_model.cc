#include "tests/unit/turn/job_model.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

#include "deviceplugin/arbiter/poll_schedule.h"
#include "tests/unit/turn/plain_memory.h"

namespace crossover::turn::test {
namespace {

bool Passes(const PlainMemory& memory, SlotIndex slot, TurnNumber k) {
  return AtOrPast(memory.Load(slot, Word::kGate), k);
}

// A Shared is a resource that several pieces of work share evenly, such as a GPU or a link. If the pieces
// want more than there is, all run at the same lower speed. While several run, their joint speed is
// multiplied by `gain`, but none is faster than alone.
class Shared {
 public:
  void Start(SlotIndex job, Time work, double width, Time now) {
    Advance(now);
    left_[job] = static_cast<double>(work);
    width_[job] = width;
    running_.Add(job);
  }
  void Stop(SlotIndex job, Time now) {
    Advance(now);
    running_.Remove(job);
  }
  void set_capacity(double capacity, Time now) {
    Advance(now);
    capacity_ = capacity;
  }
  // REQUIRES: nothing runs.
  void set_gain(double gain) { gain_ = gain; }
  // Returns when the first piece is done, and writes its job to `*job`. Returns kNever if nothing runs.
  Time Next(SlotIndex* job) const {
    Time next = kNever;
    for (SlotIndex slot : running_) {
      const auto end = at_ + static_cast<Time>(std::ceil(std::max(0.0, left_[slot]) / Speed()));
      if (end >= next) continue;
      next = end;
      *job = slot;
    }
    return next;
  }
  int running() const { return running_.Count(); }
  bool Runs(SlotIndex job) const { return running_.Has(job); }

 private:
  double Speed() const {
    double wanted = 0;
    for (SlotIndex slot : running_) wanted += width_[slot];
    const double even = std::min(1.0, capacity_ / std::max(wanted, 1e-3));
    return running_.Count() > 1 ? std::min(1.0, even * gain_) : even;
  }
  void Advance(Time now) {
    for (SlotIndex slot : running_) left_[slot] -= static_cast<double>(now - at_) * Speed();
    at_ = now;
  }
  SlotSet running_;
  double left_[kMaxSlots] = {};
  double width_[kMaxSlots] = {};
  double capacity_ = 1;
  double gain_ = 1;
  Time at_ = 0;
};

struct Event {
  Time at;
  std::uint64_t tie;  // random: events of one instant come in any order
  enum class Kind : std::uint8_t { kArrive, kStart, kCompute, kLink, kPoll } kind;
  int gpu;
  SlotIndex job;
  std::uint64_t stamp;  // kCompute, kLink, kPoll: outdated if it is not the last
};
struct Later {
  bool operator()(const Event& a, const Event& b) const { return a.at != b.at ? a.at > b.at : a.tie > b.tie; }
};

// A Client is one job's rank on one GPU.
struct Client {
  TurnNumber k = 0;       // the turn that it asked for last
  bool gated = true;      // it takes a turn; else it computes without one
  bool starting = false;  // let in, hand-over cost still running
  bool prologue = false;  // its present turn is the one before a stall
  Time rest = 0;          // compute of this turn still to run, behind the present stretch
  Time stretch = 0;       // length of a stretch; 0: the whole turn
  Time asked = 0;
};

struct Gpu {
  PlainMemory memory;
  Turnstile turnstile;
  Guard guard;
  Client client[kMaxSlots];
  Shared computing;
  std::uint64_t poll_stamp = 0;
  std::uint64_t compute_stamp = 0;
};

class Model {
 public:
  explicit Model(const JobModelOptions& options)
      : options_(options),
        jobs_(static_cast<SlotIndex>(options.jobs.size())),
        random_(options.seed),
        gpus_(static_cast<std::size_t>(options.gpus)) {
    result_.ends.resize(jobs_);
    result_.longest_wait.resize(jobs_);
    Settings settings;
    settings.policy = options.policy;
    for (int g = 0; g < options.gpus; ++g) {
      Gpu& gpu = GpuAt(g);
      gpu.turnstile.set_settings(settings);
      gpu.computing.set_gain(options.co_run);
      for (SlotIndex job = 0; job < jobs_; ++job) {
        gpu.turnstile.Join(job, job);
        gpu.turnstile.SetPriority(job, options.jobs[job].priority);
        gpu.turnstile.SetTurns(job, options.jobs[job].prologue > 0 ? 2 : 1);
        gpu.turnstile.SetCap(job, options.jobs[job].cap);
        if (options.jobs[job].profiled) gpu.turnstile.SetKnown(job, options.jobs[job].demand());
        gpu.turnstile.SetGated(job, true);
      }
      // The token starts with the client that must go first.
      const SlotIndex first = options.start_trapped && g % 2 != 0 ? 1 : 0;
      gpu.memory.Set(first, Word::kGate, FirstStretch(1));
      Push(static_cast<Time>(random_() % 100'000), Event::Kind::kPoll, g, 0, 0);
    }
    for (SlotIndex job = 0; job < jobs_; ++job) {
      left_[job] = options.gpus;
      StartIteration(job, options.jobs[job].starts);
    }
  }

  JobModelResult Run() {
    while (!queue_.empty() && !Done()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.at;
      Handle(event);
    }
    for (const Gpu& gpu : gpus_) Sum(gpu.turnstile.stats());
    result_.guard = gpus_[0].guard;
    return std::move(result_);
  }

 private:
  Gpu& GpuAt(int g) { return gpus_[static_cast<std::size_t>(g)]; }

  void Handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kArrive:
        return Arrive(event.gpu, event.job);
      case Event::Kind::kStart:
        return Start(event.gpu, event.job);
      case Event::Kind::kCompute:
        if (event.stamp == GpuAt(event.gpu).compute_stamp) EndOfStretch(event.gpu, event.job);
        return;
      case Event::Kind::kLink:
        if (event.stamp == link_stamp_) EndIteration(event.job);
        return;
      case Event::Kind::kPoll:
        if (event.stamp == GpuAt(event.gpu).poll_stamp) Poll(event.gpu);
        return;
    }
  }

  bool Done() const {
    const auto wanted = static_cast<std::size_t>(options_.iterations);
    return std::all_of(result_.ends.begin(), result_.ends.end(),
                       [wanted](const auto& ends) { return ends.size() >= wanted; });
  }

  void Sum(const Stats& stats) {
    result_.stats.turns += stats.turns;
    result_.stats.handed_over += stats.handed_over;
    result_.stats.granted += stats.granted;
    result_.stats.preempted += stats.preempted;
    result_.stats.minted += stats.minted;
    result_.stats.swallowed += stats.swallowed;
    result_.stats.rest_while_ready += stats.rest_while_ready;
  }

  void Push(Time at, Event::Kind kind, int gpu, SlotIndex job, std::uint64_t stamp) {
    queue_.push({at, random_(), kind, gpu, job, stamp});
  }

  Time Compute(int gpu, SlotIndex job) const {
    const JobShape& shape = options_.jobs[job];
    return static_cast<Time>(static_cast<double>(shape.compute) *
                             ComputeFactor(shape, options_.seed, gpu, job, result_.ends[job].size()));
  }

  void StartIteration(SlotIndex job, Time at) {
    for (int g = 0; g < options_.gpus; ++g) Push(at, Event::Kind::kArrive, g, job, 0);
  }

  void Arrive(int g, SlotIndex job) {
    Gpu& gpu = GpuAt(g);
    Client& client = gpu.client[job];
    client.asked = now_;
    client.gated = gpu.turnstile.gated().Has(job);
    client.prologue = options_.jobs[job].prologue > 0 && !client.prologue;
    client.rest = client.prologue ? options_.jobs[job].prologue : Compute(g, job);
    client.stretch = 0;
    if (!client.gated) return StartStretch(g, job);
    client.k = NextTurn(client.k);
    gpu.turnstile.SetIterationOffset(job, static_cast<std::uint32_t>(result_.ends[job].size()) -
                                              TurnOf(client.k) / gpu.turnstile.policy().timing(job).turns());
    client.stretch = StretchOf(gpu, job, client.k);
    gpu.memory.Do(Acquire(job, client.k)[0]);
    LetIn(g);
  }

  // Returns the length of a stretch, or 0 for a whole turn. Stretches are whole kernels, because the client
  // counts launches.
  Time StretchOf(const Gpu& gpu, SlotIndex job, TurnNumber k) const {
    const JobShape& shape = options_.jobs[job];
    const TimingModel& timing = gpu.turnstile.policy().timing(job);
    const auto launches = static_cast<std::uint32_t>(std::max<Time>(1, shape.compute / shape.kernel));
    const std::uint32_t asked = arbiter::LaunchesPerStretch(
        gpu.turnstile.stretch_wanted(job, PositionOf(k, timing.turns())), timing.longest_turn(), launches);
    return asked * shape.kernel;
  }

  // Starts the hand-over of each client that waits at an open gate.
  void LetIn(int g) {
    Gpu& gpu = GpuAt(g);
    for (SlotIndex job = 0; job < jobs_; ++job) {
      const bool waits = gpu.memory.Load(job, Word::kReady) != gpu.memory.Load(job, Word::kHold);
      Client& client = gpu.client[job];
      if (!waits || client.starting || !Passes(gpu.memory, job, client.k)) continue;
      client.starting = true;
      Push(now_ + options_.hand_over, Event::Kind::kStart, g, job, 0);
    }
  }

  void Start(int g, SlotIndex job) {
    Gpu& gpu = GpuAt(g);
    Client& client = gpu.client[job];
    client.starting = false;
    result_.longest_wait[job] = std::max(result_.longest_wait[job], now_ - client.asked);
    const auto acquire = Acquire(job, client.k);
    gpu.memory.Do(acquire[2]);
    gpu.memory.Do(acquire[3]);
    if (gpu.computing.running() > 0) ++result_.overlaps;
    StartStretch(g, job);
  }

  void StartStretch(int g, SlotIndex job) {
    Gpu& gpu = GpuAt(g);
    Client& client = gpu.client[job];
    const Time length = client.stretch == 0 ? client.rest : std::min(client.stretch, client.rest);
    client.rest -= length;
    if (gpu.computing.running() == 0) CountComputing(1);
    gpu.computing.Start(job, length, options_.jobs[job].width, now_);
    Schedule(g);
  }

  void Schedule(int g) {
    Gpu& gpu = GpuAt(g);
    SlotIndex job = 0;
    const Time next = gpu.computing.Next(&job);
    if (next != kNever) Push(next, Event::Kind::kCompute, g, job, ++gpu.compute_stamp);
  }

  void EndOfStretch(int g, SlotIndex job) {
    Gpu& gpu = GpuAt(g);
    Client& client = gpu.client[job];
    gpu.computing.Stop(job, now_);
    if (gpu.computing.running() == 0) CountComputing(-1);
    if (client.rest > 0) {
      YieldTurn(g, job);
    } else {
      ReleaseTurn(g, job);
    }
    Schedule(g);
  }

  void YieldTurn(int g, SlotIndex job) {
    Gpu& gpu = GpuAt(g);
    Client& client = gpu.client[job];
    const auto ops = Yield(job, client.k);
    client.k = NextStretch(client.k);
    gpu.memory.Do(ops[0]);
    gpu.memory.Do(ops[1]);
    if (Passes(gpu.memory, job, client.k)) {
      gpu.memory.Do(ops[3]);
      gpu.memory.Do(ops[4]);
      StartStretch(g, job);
    } else {
      client.asked = now_;
      LetIn(g);
    }
  }

  void ReleaseTurn(int g, SlotIndex job) {
    Gpu& gpu = GpuAt(g);
    const Client& client = gpu.client[job];
    if (client.gated) GiveBack(&gpu, job);
    LetIn(g);
    if (client.prologue) {
      Push(now_ + options_.jobs[job].stall, Event::Kind::kArrive, g, job, 0);
    } else if (--left_[job] == 0) {
      Communicate(job);
    }
  }

  void GiveBack(Gpu* gpu, SlotIndex job) {
    const TurnNumber k = gpu->client[job].k;
    const SlotIndex successor = gpu->turnstile.successor(job, k);
    const std::uint32_t open = OpenFor(job, k, successor, gpu->memory.Load(successor, Word::kReady));
    for (const Op& op : Release(job, k, successor, open)) gpu->memory.Do(op);
  }

  void Communicate(SlotIndex job) {
    Shared& link = links_[options_.shared_link ? 0 : job];
    link.Start(job, options_.jobs[job].communicate, 1, now_);
    ++spinning_;
    Spin();
    ScheduleLinks();
  }

  void EndIteration(SlotIndex job) {
    links_[options_.shared_link ? 0 : job].Stop(job, now_);
    --spinning_;
    Spin();
    ScheduleLinks();
    left_[job] = options_.gpus;
    result_.ends[job].push_back(now_);
    StartIteration(job, now_);
  }

  void ScheduleLinks() {
    Time first = kNever;
    SlotIndex job = 0;
    for (const Shared& link : links_) {
      SlotIndex candidate = 0;
      const Time next = link.Next(&candidate);
      if (next >= first) continue;
      first = next;
      job = candidate;
    }
    if (first != kNever) Push(first, Event::Kind::kLink, 0, job, ++link_stamp_);
  }

  // Leaves to kernels the part of each GPU that the running collectives do not hold.
  void Spin() {
    if (options_.spinning == 0) return;
    for (int g = 0; g < options_.gpus; ++g) {
      GpuAt(g).computing.set_capacity(1 - options_.spinning * spinning_, now_);
      Schedule(g);
    }
  }

  // Adds `change` to the number of GPUs that compute. Slows the collectives down while there are any: a
  // ring is as fast as its slowest rank.
  void CountComputing(int change) {
    const bool computed = computing_ > 0;
    computing_ += change;
    if (options_.slow_comm == 0 || computed == (computing_ > 0)) return;
    for (Shared& link : links_) link.set_capacity(computing_ > 0 ? 1 / (1 + options_.slow_comm) : 1, now_);
    ScheduleLinks();
  }

  void Poll(int g) {
    Gpu& gpu = GpuAt(g);
    ChooseWay(&gpu);
    // The model polls as often as the daemon does.
    const Time wanted = gpu.turnstile.Poll(gpu.memory, now_);
    Tell(g);
    const Time next = arbiter::NextPoll(now_, wanted, gpu.turnstile.policy(), gpu.turnstile.gated());
    LetIn(g);
    Push(std::clamp(next, now_ + arbiter::kShortestPoll, now_ + arbiter::kSparsePoll), Event::Kind::kPoll, g,
         0, ++gpu.poll_stamp);
  }

  void Tell(int g) {
    Gpu& gpu = GpuAt(g);
    const auto events = gpu.turnstile.TakeEvents();
    if (options_.observer == nullptr) return;
    for (const turn::Event& event : events) options_.observer->OnTurn(g, event);
    for (SlotIndex job = 0; job < jobs_; ++job) {
      const auto iterations = static_cast<std::uint32_t>(result_.ends[job].size());
      options_.observer->OnPoll(g, job, iterations, gpu.turnstile.policy(), now_);
      if (gpu.guard.alone_at(job) == now_)
        options_.observer->OnMeasure(g, job, gpu.guard.alone(job), gpu.guard.alone_over(job), now_);
    }
  }

  void ChooseWay(Gpu* gpu) {
    Guard::Plan plan{.way = options_.way};
    if (options_.guard) {
      std::vector<Guard::Job> jobs;
      for (SlotIndex job = 0; job < jobs_; ++job) {
        jobs.push_back({job, static_cast<std::uint32_t>(result_.ends[job].size()),
                        gpu->turnstile.policy().timing(job).alone()});
      }
      plan = gpu->guard.Advance(jobs, now_);
    }
    for (SlotIndex job = 0; job < jobs_; ++job) gpu->turnstile.SetGated(job, plan.way != Way::kSideBySide);
    gpu->turnstile.SetOwner(plan.owner);
  }

  const JobModelOptions options_;
  const SlotIndex jobs_;
  std::mt19937_64 random_;
  std::vector<Gpu> gpus_;
  Shared links_[kMaxSlots];
  int spinning_ = 0;   // collectives that run
  int computing_ = 0;  // GPUs on which a client computes
  std::uint64_t link_stamp_ = 0;
  std::priority_queue<Event, std::vector<Event>, Later> queue_;
  int left_[kMaxSlots] = {};  // ranks that have not given their turn of this iteration back
  Time now_ = 0;
  JobModelResult result_;
};

}  // namespace

JobModelResult RunJobModel(const JobModelOptions& options) { return Model(options).Run(); }

double ComputeFactor(const JobShape& shape, std::uint64_t seed, int gpu, SlotIndex job,
                     std::size_t iteration) {
  double factor = 1;
  if (shape.jitter > 0 || shape.tail > 0) {
    std::seed_seq sequence{static_cast<std::uint64_t>(gpu), static_cast<std::uint64_t>(job),
                           static_cast<std::uint64_t>(iteration), seed};
    std::mt19937 generator(sequence);
    if (shape.jitter > 0) {
      std::normal_distribution<double> normal(1.0, shape.jitter);
      factor = std::clamp(normal(generator), 1 - 3 * shape.jitter, 1 + 3 * shape.jitter);
    }
    std::uniform_real_distribution<double> even(0, 1);
    if (even(generator) < shape.tail) factor *= 1 + 2 * even(generator);
  }
  if (shape.batch > 0) {
    constexpr std::uint64_t kOfBatches = 0xba7c;
    std::seed_seq sequence{kOfBatches, static_cast<std::uint64_t>(job), static_cast<std::uint64_t>(iteration),
                           seed};
    std::mt19937 generator(sequence);
    std::normal_distribution<double> normal(0, shape.batch);
    factor *= std::exp(normal(generator) - shape.batch * shape.batch / 2);
  }
  return factor;
}

double MeanAloneWithin(const JobModelOptions& options, const JobModelResult& result, std::size_t job,
                       Time begin, Time end) {
  const JobShape& shape = options.jobs[job];
  const std::vector<Time>& ends = result.ends[job];
  const auto first = std::lower_bound(ends.begin(), ends.end(), begin);
  const auto last = std::upper_bound(first, ends.end(), end);
  if (last - first < 2) return 0;
  double factors = 0;
  for (auto iteration = first + 1; iteration != last; ++iteration) {
    double slowest = 0;
    for (int gpu = 0; gpu < options.gpus; ++gpu) {
      slowest = std::max(slowest, ComputeFactor(shape, options.seed, gpu, static_cast<SlotIndex>(job),
                                                static_cast<std::size_t>(iteration - ends.begin())));
    }
    factors += slowest;
  }
  const double mean = factors / static_cast<double>(last - first - 1);
  return static_cast<double>(shape.prologue + shape.stall + shape.communicate) +
         static_cast<double>(shape.compute) * mean;
}

double MeanStepWithin(const JobModelResult& result, std::size_t job, Time begin, Time end) {
  const std::vector<Time>& ends = result.ends[job];
  const auto first = std::lower_bound(ends.begin(), ends.end(), begin);
  const auto last = std::upper_bound(first, ends.end(), end);
  if (last - first < 2) return 0;
  return static_cast<double>(*(last - 1) - *first) / static_cast<double>(last - first - 1);
}

}  // namespace crossover::turn::test
