#include "deviceplugin/plugin/device_list.h"

namespace crossover::deviceplugin {

std::set<std::uint32_t> NumbersOf(const AdvertisedGpu& gpu) {
  std::set<std::uint32_t> numbers = gpu.held;
  for (std::uint32_t number = 0; numbers.size() < gpu.slots; ++number) numbers.insert(number);
  return numbers;
}

void DeviceList::Set(Gpus gpus) {
  {
    const std::lock_guard lock(mutex_);
    if (gpus == gpus_) return;
    gpus_ = std::move(gpus);
    ++version_;
  }
  changed_.notify_all();
}

DeviceList::Gpus DeviceList::gpus() const {
  const std::lock_guard lock(mutex_);
  return gpus_;
}

std::uint64_t DeviceList::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::uint64_t DeviceList::AwaitChange(std::uint64_t seen, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t interrupts = interrupts_;
  changed_.wait_for(lock, patience, [&] { return version_ != seen || interrupts_ != interrupts; });
  return version_;
}

void DeviceList::Interrupt() {
  {
    const std::lock_guard lock(mutex_);
    ++interrupts_;
  }
  changed_.notify_all();
}

}  // namespace crossover::deviceplugin
