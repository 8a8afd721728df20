// Owns the mapping of the signal words of one GPU: one granule of exported device memory
// (proto/signaller_protocol.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/fd.h"
#include "deviceplugin/signaller/driver.h"
#include "turn/ops.h"

namespace crossover::signaller {

// A SignalMemory is not thread-safe. REQUIRES of all calls: the context of OpenGpu() is current; `driver`
// outlives the memory.
class SignalMemory {
 public:
  // Makes the memory, with all signals at rest. Returns null, with the reason in `error`, if the driver
  // refuses.
  static std::unique_ptr<SignalMemory> Make(const Driver& driver, CUdevice device, std::string* error);
  // Goes on with the memory that `fd` stands for, whose words stay as they are. Returns null, with the reason
  // in `error`, if it is no such memory of this GPU, or has another size or version.
  static std::unique_ptr<SignalMemory> Import(const Driver& driver, CUdevice device, base::UniqueFd fd,
                                              std::string* error);
  ~SignalMemory();
  SignalMemory(const SignalMemory&) = delete;
  SignalMemory& operator=(const SignalMemory&) = delete;

  // Writes the signal that the client of `slot` may come. Returns when the word has it. Returns false, with
  // the reason in `error`, if the driver refuses. REQUIRES: `area` is 1 to AreasOf(bytes()).
  bool WriteCome(std::uint32_t area, turn::SlotIndex slot, std::string* error);
  // Writes the number of a set-up proof into a line. Returns when the line has it, or returns false, with the
  // reason in `error`, if the driver refuses. REQUIRES: as WriteCome().
  bool WriteProof(std::uint32_t area, std::uint32_t line, std::uint32_t number, std::string* error);
  // Lets all signals of `area` rest. Returns false, with the reason in `error`, if the driver refuses.
  bool ResetArea(std::uint32_t area, std::string* error);

  int fd() const { return fd_.get(); }  // stays open as long as this object
  std::size_t bytes() const { return bytes_; }

 private:
  bool Write(std::uint32_t area, std::uint32_t line, std::size_t offset, std::uint32_t value,
             std::string* error);
  SignalMemory(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {}
  CUmemAllocationProp Properties() const;
  bool AskForSize(std::string* error);
  bool Map(CUmemGenericAllocationHandle handle, std::string* error);
  bool MakeHead(std::string* error);
  bool CheckHead(std::string* error) const;

  const Driver& driver_;
  const CUdevice device_;
  base::UniqueFd fd_;
  std::size_t bytes_ = 0;
  CUdeviceptr address_ = 0;
  bool mapped_ = false;
};

}  // namespace crossover::signaller
