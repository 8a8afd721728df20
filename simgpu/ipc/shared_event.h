// Holds the state of an event that several processes use: how often it was recorded, and how many of these
// records are reached. It lies in a file that every process of them has mapped.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/fd.h"
#include "simgpu/cuda/work.h"

namespace simgpu {

// A SharedEvent is one process's view of an event that several processes use. Thread-safe.
class SharedEvent : public std::enable_shared_from_this<SharedEvent> {
 public:
  // Makes an event that other processes can open. Returns null if there is no memory.
  static std::shared_ptr<SharedEvent> Make();
  // Opens one by the content of a CUipcEventHandle.
  static CUresult Open(const CUipcEventHandle& handle, std::shared_ptr<SharedEvent>* event);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  // Fills in the handle by which another process opens the event. Returns CUDA_ERROR_INVALID_HANDLE if this
  // process has opened it itself: the handle is its exporter's to give.
  CUresult Export(CUipcEventHandle* handle) const;

  // Counts a record. Returns work that says that it is reached.
  WorkPtr Record();
  // Returns work that waits for the latest record of any process, as of now. The work keeps the event.
  WorkPtr Wait() const;
  // These look at the latest record, or block until it is reached. An event that was never recorded is
  // reached.
  bool Reached() const;
  void Synchronize() const;

 private:
  // Page is the content of the file. Records are reached in any order; the greatest number counts, because an
  // event stands for its latest record.
  struct Page {
    std::uint32_t recorded;
    std::uint32_t reached;
  };
  SharedEvent(crossover::base::UniqueFd fd, Page* page, bool opened)
      : fd_(std::move(fd)), page_(page), opened_(opened) {}
  WordCondition Latest() const;
  void Reach(std::uint32_t number);

  const crossover::base::UniqueFd fd_;
  Page* const page_;
  const bool opened_;
};

}  // namespace simgpu
