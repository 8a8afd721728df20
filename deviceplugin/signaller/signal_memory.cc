#include "deviceplugin/signaller/signal_memory.h"

#include <utility>

#include "common/base/refusal.h"
#include "proto/signaller_protocol.h"
#include "turn/signal.h"

namespace crossover::signaller {

CUmemAllocationProp SignalMemory::Properties() const {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device_;
  return properties;
}

bool SignalMemory::AskForSize(std::string* error) {
  const CUmemAllocationProp properties = Properties();
  return Succeeds(driver_,
                  driver_.MemGetAllocationGranularity(&bytes_, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                  "cuMemGetAllocationGranularity", error);
}

// Maps the memory of `handle`, and releases the handle: the mapping keeps the memory. Returns false, with the
// reason in `error`, on failure.
bool SignalMemory::Map(CUmemGenericAllocationHandle handle, std::string* error) {
  CUmemAccessDesc access{};
  access.location = Properties().location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  bool works =
      Succeeds(driver_, driver_.MemAddressReserve(&address_, bytes_, 0, 0, 0), "cuMemAddressReserve", error);
  works = works && Succeeds(driver_, driver_.MemMap(address_, bytes_, 0, handle, 0), "cuMemMap", error);
  mapped_ = works;
  works =
      works && Succeeds(driver_, driver_.MemSetAccess(address_, bytes_, &access, 1), "cuMemSetAccess", error);
  driver_.MemRelease(handle);
  return works;
}

bool SignalMemory::MakeHead(std::string* error) {
  const crossover_signal_head head{CROSSOVER_SIGNAL_MAGIC, CROSSOVER_SIGNAL_VERSION};
  return Succeeds(driver_, driver_.MemsetD8(address_, 0, bytes_), "cuMemsetD8", error) &&
         Succeeds(driver_, driver_.MemcpyHtoD(address_, &head, sizeof head), "cuMemcpyHtoD", error);
}

bool SignalMemory::CheckHead(std::string* error) const {
  crossover_signal_head head{};
  if (!Succeeds(driver_, driver_.MemcpyDtoH(&head, address_, sizeof head), "cuMemcpyDtoH", error))
    return false;
  if (head.magic != CROSSOVER_SIGNAL_MAGIC) {
    *error = base::Refusal("kept memory: magic", std::to_string(CROSSOVER_SIGNAL_MAGIC),
                           std::to_string(head.magic));
    return false;
  }
  if (head.version != CROSSOVER_SIGNAL_VERSION) {
    *error = base::Refusal("kept memory: version", std::to_string(CROSSOVER_SIGNAL_VERSION),
                           std::to_string(head.version));
    return false;
  }
  return true;
}

std::unique_ptr<SignalMemory> SignalMemory::Make(const Driver& driver, CUdevice device, std::string* error) {
  std::unique_ptr<SignalMemory> memory(new SignalMemory(driver, device));
  if (!memory->AskForSize(error)) return nullptr;
  const CUmemAllocationProp properties = memory->Properties();
  CUmemGenericAllocationHandle handle{};
  if (!Succeeds(driver, driver.MemCreate(&handle, memory->bytes_, &properties, 0), "cuMemCreate", error)) {
    return nullptr;
  }
  int fd = -1;
  const CUresult exported = driver.MemExport(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  memory->fd_.Reset(fd);
  const bool mapped = memory->Map(handle, error);
  if (!Succeeds(driver, exported, "cuMemExportToShareableHandle", error) || !mapped ||
      !memory->MakeHead(error)) {
    return nullptr;
  }
  return memory;
}

std::unique_ptr<SignalMemory> SignalMemory::Import(const Driver& driver, CUdevice device, base::UniqueFd fd,
                                                   std::string* error) {
  std::unique_ptr<SignalMemory> memory(new SignalMemory(driver, device));
  memory->fd_ = std::move(fd);
  if (!memory->AskForSize(error)) return nullptr;
  CUmemGenericAllocationHandle handle{};
  auto* raw = reinterpret_cast<void*>(static_cast<std::intptr_t>(memory->fd_.get()));
  const CUresult imported = driver.MemImport(&handle, raw, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (!Succeeds(driver, imported, "kept memory: cuMemImportFromShareableHandle", error)) return nullptr;
  CUmemAllocationProp properties{};
  const CUresult asked = driver.MemGetProperties(&properties, handle);
  const bool mapped = memory->Map(handle, error);  // gives the handle back
  if (!Succeeds(driver, asked, "kept memory: cuMemGetAllocationPropertiesFromHandle", error)) return nullptr;
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties.location.id != device) {
    *error =
        base::Refusal("kept memory: GPU", std::to_string(device), std::to_string(properties.location.id));
    return nullptr;
  }
  if (!mapped) {
    *error = "kept memory of another size than " + std::to_string(memory->bytes_) + " bytes: " + *error;
    return nullptr;
  }
  return memory->CheckHead(error) ? std::move(memory) : nullptr;
}

SignalMemory::~SignalMemory() {
  if (mapped_) driver_.MemUnmap(address_, bytes_);
  if (address_ != 0) driver_.MemAddressFree(address_, bytes_);
}

bool SignalMemory::Write(std::uint32_t area, std::uint32_t line, std::size_t offset, std::uint32_t value,
                         std::string* error) {
  const CUdeviceptr word =
      address_ + area * CROSSOVER_SIGNAL_AREA_BYTES + line * sizeof(crossover_signal_line) + offset;
  return Succeeds(driver_, driver_.MemcpyHtoD(word, &value, sizeof value), "cuMemcpyHtoD", error);
}

bool SignalMemory::WriteCome(std::uint32_t area, turn::SlotIndex slot, std::string* error) {
  return Write(area, slot, offsetof(crossover_signal_line, signal), turn::kSignalCome, error);
}

bool SignalMemory::WriteProof(std::uint32_t area, std::uint32_t line, std::uint32_t number,
                              std::string* error) {
  return Write(area, line, offsetof(crossover_signal_line, proof), number, error);
}

bool SignalMemory::ResetArea(std::uint32_t area, std::string* error) {
  static_assert(turn::kSignalRest == 0);
  const CUdeviceptr begin = address_ + area * CROSSOVER_SIGNAL_AREA_BYTES;
  return Succeeds(driver_, driver_.MemsetD8(begin, 0, CROSSOVER_SIGNAL_AREA_BYTES), "cuMemsetD8", error);
}

}  // namespace crossover::signaller
