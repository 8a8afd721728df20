#include "extender/gang/controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace crossover::extender {

Controller::Controller(Options options, Api& api) : options_(std::move(options)), api_(api) {
  for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { Work(); });
  task_.emplace("xo-gangs", options_.tick, [this] { Tick(); });
}

Controller::~Controller() {
  std::vector<Answer> answers;
  {
    const Lock lock(mutex_);
    stop_ = true;
    for (auto& [bind_handle, done] : held_) answers.push_back({std::move(done), "this extender ends"});
    held_.clear();
  }
  work_.notify_all();
  Give(answers);
  task_.reset();
  for (std::thread& thread : threads_) thread.join();
}

bool Controller::Lead(std::vector<Answer>* answers) {
  const bool leads = options_.leads() && options_.synced();
  if (leads && !gangs_) {
    const std::string epoch = options_.instance + "." + std::to_string(++terms_);
    PodFits fits;
    if (options_.fits) {
      fits = [this](const Pod& pod, const std::string& node, const Resources& planned) {
        return options_.fits(cache_, node, pod, planned);
      };
    }
    gangs_ = std::make_unique<Gangs>(cache_, options_.settings, std::move(fits), epoch);
  } else if (!leads && gangs_) {
    gangs_.reset();
    jobs_.clear();
    const Lock seats(seats_mutex_);
    seats_.clear();
    const char* const why = options_.leads() ? "this extender does not know the whole cluster any more"
                                             : "this extender leads no more";
    for (auto& [bind_handle, done] : held_) answers->push_back({std::move(done), why});
    held_.clear();
  }
  return leads;
}

void Controller::Step(std::vector<Answer>* answers) {
  if (!Lead(answers)) return;
  const double begin_s = options_.now_s();
  Take(gangs_->Step(begin_s, api_.TellRoom()), answers);
  gangs_->Took(begin_s, options_.now_s());
  ShowSeats();
}

void Controller::ShowSeats() {
  std::vector<std::pair<std::string, std::string>> moved;
  for (const std::string& uid : gangs_->TakeMoved()) moved.emplace_back(uid, gangs_->SeatOf(uid));
  const Lock lock(seats_mutex_);
  for (auto& [uid, node] : moved) {
    if (node.empty()) {
      seats_.erase(uid);
    } else {
      seats_[uid] = std::move(node);
    }
  }
}

void Controller::Take(std::vector<Action> actions, std::vector<Answer>* answers) {
  for (Action& action : actions) {
    if (action.kind == Action::Kind::kTell) {
      api_.Tell(action);
    } else if (action.kind != Action::Kind::kAnswer) {
      jobs_.push_back({terms_, std::move(action)});
      work_.notify_one();
    } else if (auto held = held_.extract(action.bind_handle)) {
      answers->push_back({std::move(held.mapped()), std::move(action.text)});
    }
  }
}

void Controller::Give(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) answer.done(answer.error);
}

void Controller::ChangePod(const std::string& uid, const Changing& change) {
  std::vector<Answer> answers;
  {
    const Lock lock(mutex_);
    change(cache_);
    if (Lead(&answers)) gangs_->PodChanged(uid, options_.now_s());
    Step(&answers);
  }
  Give(answers);
}

void Controller::ChangeCluster(const std::function<bool(ClusterCache& cache)>& change) {
  const Lock lock(mutex_);
  if (change(cache_) && gangs_) gangs_->ClusterChanged();
}

void Controller::Look(const std::function<void(const ClusterCache& cache)>& look) const {
  const Lock lock(mutex_);
  look(cache_);
}

std::optional<FilterAnswer> Controller::Filter(const PodRef& pod, std::span<const std::string_view> nodes) {
  if (!options_.leads()) return std::nullopt;
  std::string seat;
  {
    const Lock lock(seats_mutex_);
    const auto found = seats_.find(pod.uid);
    if (found != seats_.end()) seat = found->second;
  }
  if (!seat.empty() && std::ranges::find(nodes, std::string_view(seat)) != nodes.end())
    return Gangs::LeftOn(std::move(seat));
  const Lock lock(mutex_);
  if (!gangs_ || !options_.leads()) return std::nullopt;
  return gangs_->Filter(pod, nodes, options_.now_s());
}

std::vector<int> Controller::Prioritize(const PodRef&, std::span<const std::string_view> nodes) {
  // Filter leaves one node, or does not restrict the nodes. There is nothing to rank.
  return std::vector<int>(nodes.size(), 0);
}

void Controller::Bind(const PodRef& pod, const std::string& node, Done done) {
  std::vector<Answer> answers;
  {
    const Lock lock(mutex_);
    if (stop_) {
      answers.push_back({std::move(done), "this extender ends"});
    } else if (!Lead(&answers)) {
      answers.push_back({std::move(done), options_.leads() ? "this extender does not know the cluster yet"
                                                           : "this extender does not lead"});
    } else {
      const BindHandle bind_handle = bind_handles_++;
      held_[bind_handle] = std::move(done);
      gangs_->Bind(pod, node, bind_handle, options_.now_s());
      Step(&answers);
    }
  }
  Give(answers);
}

std::map<std::string, Victims> Controller::Preempt(const PodRef& pod,
                                                   std::map<std::string, Victims> by_node) {
  const Lock lock(mutex_);
  if (!gangs_) return {};
  return gangs_->Preempt(pod, std::move(by_node));
}

int Controller::held() const {
  const Lock lock(mutex_);
  return static_cast<int>(held_.size());
}

std::optional<GangStats> Controller::Count() const {
  const Lock lock(mutex_);
  return gangs_ ? std::optional(GangStatsOf(gangs_->store())) : std::nullopt;
}

std::string Controller::WhyWaits(const std::string& uid) const {
  const Lock lock(mutex_);
  return gangs_ ? gangs_->WhyWaits(uid) : "";
}

void Controller::Work() {
  for (;;) {
    Lock lock(mutex_);
    work_.wait(lock, [this] { return stop_ || HasWork(); });
    if (stop_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    if (job.term != terms_ || !gangs_) continue;
    // This process may have lost the lead since the last tick.
    const bool leads = options_.leads();
    lock.unlock();
    const bool reads = job.action.kind == Action::Kind::kReadOwner;
    std::string error = leads ? "" : "this extender leads no more";
    nlohmann::json object;
    Result result{.outcome = Outcome::kRefused, .error = error};
    if (leads && reads) object = api_.Read(job.action.owner, &error);
    if (leads && !reads) result = api_.Write(job.action);
    std::vector<Answer> answers;
    lock.lock();
    if (gangs_ && job.term == terms_) {
      if (reads) {
        gangs_->OwnerRead(job.action.id, object, error, options_.now_s());
      } else {
        gangs_->Written(job.action.id, result, options_.now_s());
      }
    }
    Step(&answers);
    lock.unlock();
    Give(answers);
  }
}

void Controller::Tick() {
  std::vector<Answer> answers;
  {
    const Lock lock(mutex_);
    if (!stop_) Step(&answers);
    if (HasWork()) work_.notify_all();  // the workers may have waited for the end of a Retry-After
  }
  Give(answers);
}

bool Controller::HasWork() const {
  return !jobs_.empty() && (!gangs_ || options_.now_s() >= gangs_->quiet_until_s());
}

}  // namespace crossover::extender
