#include "sidecar/ipc/import.h"

#include "proto/signaller_protocol.h"

namespace crossover::ipc {
namespace {

Refusal Because(Reason reason, CUresult error) { return {reason, static_cast<std::uint64_t>(error)}; }

Refusal Check(const gates::Driver& driver, CUmemGenericAllocationHandle handle, CUdevice device) {
  CUmemAllocationProp properties{};
  if (const CUresult error = driver.MemGetProperties(&properties, handle); error != CUDA_SUCCESS) {
    return Because(Reason::kProperties, error);
  }
  if (properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties.location.id == device) return {};
  return {Reason::kGpu, static_cast<std::uint64_t>(properties.location.id)};
}

Refusal Map(const gates::Driver& driver, CUmemGenericAllocationHandle handle, CUdevice device,
            Mapping* mapping) {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUresult error = driver.MemAddressReserve(&mapping->address, mapping->bytes, 0, 0, 0);
  if (error != CUDA_SUCCESS) return Because(Reason::kMapping, error);
  error = driver.MemMap(mapping->address, mapping->bytes, 0, handle, 0);
  if (error != CUDA_SUCCESS) {
    driver.MemAddressFree(mapping->address, mapping->bytes);
    return Because(Reason::kMapping, error);
  }
  error = driver.MemSetAccess(mapping->address, mapping->bytes, &access, 1);
  if (error == CUDA_SUCCESS) return {};
  Unmap(driver, *mapping);
  return Because(Reason::kMapping, error);
}

}  // namespace

CUdeviceptr Mapping::LinesOf(std::uint32_t area) const {
  return address + std::size_t{area} * CROSSOVER_SIGNAL_AREA_BYTES;
}

bool CanImport(const gates::Driver& driver) {
  return driver.MemImport != nullptr && driver.MemGetProperties != nullptr && driver.MemRelease != nullptr &&
         driver.MemAddressReserve != nullptr && driver.MemAddressFree != nullptr &&
         driver.MemMap != nullptr && driver.MemUnmap != nullptr && driver.MemSetAccess != nullptr &&
         driver.MemcpyDtoHAsync != nullptr && driver.MemcpyHtoDAsync != nullptr &&
         driver.MemHostAlloc != nullptr && driver.StreamCreate != nullptr;
}

Refusal Import(const gates::Driver& driver, int fd, std::size_t bytes, Mapping* mapping) {
  CUdevice device = -1;
  if (const CUresult error = driver.CtxGetDevice(&device); error != CUDA_SUCCESS) {
    return Because(Reason::kImport, error);
  }
  CUmemGenericAllocationHandle handle{};
  auto* raw = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
  const CUresult error = driver.MemImport(&handle, raw, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (error != CUDA_SUCCESS) return Because(Reason::kImport, error);
  *mapping = {0, bytes};
  Refusal refusal = Check(driver, handle, device);
  if (!refusal) refusal = Map(driver, handle, device, mapping);
  driver.MemRelease(handle);  // the mapping keeps the memory
  return refusal;
}

void Unmap(const gates::Driver& driver, const Mapping& mapping) {
  driver.MemUnmap(mapping.address, mapping.bytes);
  driver.MemAddressFree(mapping.address, mapping.bytes);
}

}  // namespace crossover::ipc
