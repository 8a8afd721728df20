#include "deviceplugin/inventory/gpu_watch.h"

#include <sys/prctl.h>

#include <algorithm>

#include "common/base/clock.h"
#include "common/logging/log.h"
#include "deviceplugin/inventory/inventory.h"

namespace crossover::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{500};  // longest wait for one event; bounds how long the destructor waits
constexpr milliseconds kBreath{50};     // pause between two waits: a failing driver may return at once

}  // namespace

GpuWatch::GpuWatch(Settings settings, DeviceList* devices)
    : settings_(std::move(settings)),
      devices_(devices),
      live_(settings_.live),
      health_(std::chrono::nanoseconds(live_.quiet).count()) {
  all_withheld_ = settings_.withheld;
  Look();
  thread_ = std::thread([this] { Run(); });
}

GpuWatch::~GpuWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Health::Xids GpuWatch::xids() const {
  const std::lock_guard lock(mutex_);
  return health_.xids();
}

std::vector<NvmlLibrary::Gpu> GpuWatch::gpus() const {
  const std::lock_guard lock(mutex_);
  return WithMemory();
}

std::map<std::string, base::WithheldReason> GpuWatch::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

std::set<std::string> GpuWatch::of_unknown_memory() const {
  const std::lock_guard lock(mutex_);
  return of_unknown_memory_;
}

void GpuWatch::Set(Live live) {
  const std::lock_guard lock(mutex_);
  live_ = live;
  health_.set_quiet(std::chrono::nanoseconds(live.quiet).count());
  Publish();
}

void GpuWatch::Withhold(std::map<std::string, base::WithheldReason> gpus,
                        std::optional<base::WithheldReason> all) {
  const std::lock_guard lock(mutex_);
  if (gpus == withheld_ && all == all_withheld_) return;
  withheld_ = std::move(gpus);
  all_withheld_ = std::move(all);
  Publish();
}

void GpuWatch::Keep(AllocatedSlots held) {
  const std::lock_guard lock(mutex_);
  if (held == held_) return;
  held_ = std::move(held);
  Publish();
}

void GpuWatch::Run() {
  prctl(PR_SET_NAME, "xo-gpus");
  while (!Stopping()) {
    AwaitXids();
    if (Stopping()) return;
    Look();
  }
}

bool GpuWatch::Stopping() {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void GpuWatch::Look() {
  std::string why;
  if (afresh_) nvml_.reset();
  if (nvml_ == nullptr) {
    watched_.clear();
    nvml_ = NvmlLibrary::Load(settings_.library, &why);
  }
  const auto gpus = nvml_ != nullptr ? nvml_->Gpus() : std::nullopt;
  if (!gpus && why.empty()) why = "the driver does not list its GPUs";
  if (!gpus && why != complaint_) logging::Warn("the GPUs of this node are not known: " + why);
  complaint_ = why;
  std::vector<Health::Answer> answers;
  std::unique_lock lock(mutex_);
  for (const NvmlLibrary::Gpu& gpu : gpus.value_or(std::vector<NvmlLibrary::Gpu>())) {
    answers.push_back({gpu.uuid, gpu.wants_reset});
    const auto same =
        std::find_if(known_.begin(), known_.end(), [&](const auto& k) { return k.uuid == gpu.uuid; });
    if (same == known_.end()) {
      known_.push_back(gpu);
    } else {
      // One call that fails does not take slots away.
      const auto told = same->memory_bytes;
      *same = gpu;
      if (!same->memory_bytes) same->memory_bytes = told;
    }
  }
  health_.OnLook(answers, base::MonotonicNs());
  Publish();
  const bool some_missing = answers.size() < known_.size();
  lock.unlock();
  // The next look loads the library again if GPUs are missing. After a reload of the driver, the old library
  // gets no answers any more, and it may not list GPUs that are added later.
  afresh_ = answers.empty() || some_missing;
  WatchErrorsOf(answers);
}

void GpuWatch::WatchErrorsOf(const std::vector<Health::Answer>& answers) {
  std::set<std::string> there;
  for (const Health::Answer& answer : answers) there.insert(answer.uuid);
  if (answers.empty() || there == watched_) return;
  if (!nvml_->WatchXids())
    logging::Warn(
        "the driver does not tell this daemon of errors of GPUs (Xids): no slots are withheld because of "
        "them");
  watched_ = std::move(there);
}

// Handles errors of GPUs until it is time for the next look.
void GpuWatch::AwaitXids() {
  const auto end = std::chrono::steady_clock::now() + settings_.look;
  while (!Stopping()) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    const milliseconds patience = std::min(left, kPatience);
    if (nvml_ == nullptr || !nvml_->watches_xids()) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, left, [this] { return stop_; });
      continue;
    }
    const auto event = nvml_->NextXid(patience);
    if (!event) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kBreath, [this] { return stop_; });
      continue;
    }
    logging::Warn("gpu " + event->gpu_uuid + ": Xid " + std::to_string(event->xid) +
                  (BlamesTheGpu(event->xid) ? "" : ", which does not blame the GPU"));
    const std::lock_guard lock(mutex_);
    health_.OnXid(event->gpu_uuid, event->xid, base::MonotonicNs());
    Publish();
  }
}

// Returns why the GPU is withheld, or nullopt if it is not. Fills gpu->held if the held slots
// determine which slot numbers are advertised.
std::optional<base::WithheldReason> GpuWatch::FaultOf(const std::string& uuid, AdvertisedGpu* gpu) const {
  const auto held = held_.find(uuid);
  if (held != held_.end() && *held->second.rbegin() >= gpu->slots) gpu->held = held->second;
  if (auto fault = health_.Fault(uuid)) return fault;
  if (const auto found = withheld_.find(uuid); found != withheld_.end()) return found->second;
  if (gpu->held.size() > gpu->slots) {
    return base::WithheldReason{base::Withheld::kTooManyHeld,
                                "pods have " + std::to_string(gpu->held.size()) +
                                    " slots of this GPU, and it has " + std::to_string(gpu->slots) + " now"};
  }
  return all_withheld_;
}

// Returns the known GPUs. Those whose driver does not tell their memory have that of the settings, if any.
std::vector<NvmlLibrary::Gpu> GpuWatch::WithMemory() const {
  std::vector<NvmlLibrary::Gpu> gpus = known_;
  for (NvmlLibrary::Gpu& gpu : gpus) {
    if (!gpu.memory_bytes && live_.memory_bytes > 0) gpu.memory_bytes = live_.memory_bytes;
  }
  return gpus;
}

// Notes which GPUs are not shared because their memory is not known. Logs those that are new.
void GpuWatch::NoteMemory(const std::vector<NvmlLibrary::Gpu>& gpus) {
  std::set<std::string> unknown;
  for (const NvmlLibrary::Gpu& gpu : gpus) {
    if (gpu.memory_bytes || gpu.mig || live_.slots_per_gpu < 2) continue;
    if (!of_unknown_memory_.contains(gpu.uuid))
      logging::Warn("gpu " + gpu.uuid + ": " + std::string(base::kMemoryUnknownText));
    unknown.insert(gpu.uuid);
  }
  of_unknown_memory_ = std::move(unknown);
}

void GpuWatch::Publish() {
  std::vector<std::string> left_out;
  const std::vector<NvmlLibrary::Gpu> gpus = WithMemory();
  DeviceList::Gpus advertised = Advertise(gpus, live_.slots_per_gpu, &left_out);
  NoteMemory(gpus);
  std::map<std::string, base::WithheldReason> faults;
  for (const std::string& uuid : left_out)
    faults[uuid] = {base::Withheld::kSplit, "it is split into instances"};
  for (auto& [uuid, gpu] : advertised) {
    if (!live_.numa) gpu.numa.reset();
    auto fault = FaultOf(uuid, &gpu);
    gpu.healthy = !fault;
    if (fault) faults[uuid] = *std::move(fault);
  }
  for (const auto& [uuid, fault] : faults) {
    const auto before = faults_.find(uuid);
    if (before == faults_.end() || before->second != fault)
      logging::Warn("gpu " + uuid + " is withheld: " + fault.text);
  }
  for (const auto& [uuid, fault] : faults_) {
    if (!faults.contains(uuid)) logging::Info("gpu " + uuid + " is given out again");
  }
  faults_ = std::move(faults);
  devices_->Set(std::move(advertised));
}

}  // namespace crossover::deviceplugin
