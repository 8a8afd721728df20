#include "simgpu/ipc/shared_event.h"

#include <sys/mman.h>
#include <unistd.h>

#include "simgpu/ipc/handle.h"

namespace simgpu {

std::shared_ptr<SharedEvent> SharedEvent::Make() {
  crossover::base::UniqueFd fd(memfd_create("simgpu-event", MFD_CLOEXEC));
  if (!fd || ftruncate(fd.get(), sizeof(Page)) != 0) return nullptr;
  void* page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (page == MAP_FAILED) return nullptr;
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(fd), static_cast<Page*>(page), false));
}

CUresult SharedEvent::Open(const CUipcEventHandle& raw, std::shared_ptr<SharedEvent>* event) {
  IpcHandle handle;
  crossover::base::UniqueFd fd;
  const CUresult result = OpenIpcHandle(&raw, IpcKind::kEvent, CUDA_ERROR_INVALID_HANDLE, &handle, &fd);
  if (result != CUDA_SUCCESS) return result;
  if (handle.bytes != sizeof(Page)) return CUDA_ERROR_INVALID_HANDLE;
  void* page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (page == MAP_FAILED) return CUDA_ERROR_MAP_FAILED;
  event->reset(new SharedEvent(std::move(fd), static_cast<Page*>(page), true));
  return CUDA_SUCCESS;
}

SharedEvent::~SharedEvent() { munmap(page_, sizeof(Page)); }

CUresult SharedEvent::Export(CUipcEventHandle* handle) const {
  if (opened_) return CUDA_ERROR_INVALID_HANDLE;
  WriteIpcHandle(handle, IpcKind::kEvent, fd_.get(), sizeof(Page), 0);
  return CUDA_SUCCESS;
}

WorkPtr SharedEvent::Record() {
  const std::uint32_t number = __atomic_add_fetch(&page_->recorded, 1, __ATOMIC_ACQ_REL);
  return MakeHostWork([self = shared_from_this(), number] { self->Reach(number); });
}

void SharedEvent::Reach(std::uint32_t number) {
  std::uint32_t seen = __atomic_load_n(&page_->reached, __ATOMIC_RELAXED);
  while (static_cast<std::int32_t>(number - seen) > 0 &&
         !__atomic_compare_exchange_n(&page_->reached, &seen, number, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
  WakeWord(&page_->reached);
}

WordCondition SharedEvent::Latest() const {
  return {.address = reinterpret_cast<CUdeviceptr>(&page_->reached),
          .wanted = __atomic_load_n(&page_->recorded, __ATOMIC_ACQUIRE)};
}

WorkPtr SharedEvent::Wait() const {
  return MakeHostWork([self = shared_from_this(), latest = Latest()] { WaitWord(latest); });
}

bool SharedEvent::Reached() const { return Satisfied(Latest()); }

void SharedEvent::Synchronize() const { WaitWord(Latest()); }

}  // namespace simgpu
