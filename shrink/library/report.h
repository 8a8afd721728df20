// Reports to the node daemon, by way of libcrossover.so, which communicators of this process are narrowed and
// why others are plain. Metrics and events show it. Where libcrossover.so is not there, or has no such
// function, the lines on stderr say it alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"
#include "proto/arbiter_protocol.h"

namespace crossover::shrink::library {

// A Reporter is the function of libcrossover.so.
using Reporter = void (*)(const crossover_reductions* report);
inline constexpr char kReporterName[] = "crossover_report_reductions";

// Returns the function that is in this process, or null. Leaves no error for the program's next dlerror().
Reporter FindReporter();

// A Communication is what is told of a communicator beside its level or reason.
struct Communication {
  std::uint32_t ranks = 0;                       // 0: not known
  crossover_span span = CROSSOVER_SPAN_UNKNOWN;  // of its ranks
};

// A Report keeps the state of the process, and hands it over at each change. Thread-safe.
class Report {
 public:
  // `find` returns the function that takes the reports, or null.
  explicit constexpr Report(Reporter (*find)()) : find_(find) {}

  // Notes the level that the owner of the job asks for. Until then it is not known.
  void Ask(base::ShrinkLevel level);
  // These tell that a communicator has become narrow, and that such a one is about to end.
  void Narrowed(base::ShrinkLevel level, Communication of);
  void Ended(base::ShrinkLevel level);
  // Tells that a communicator is plain, or that a call of a narrowed one is.
  void Plain(base::PlainReason reason, Communication of);

 private:
  void HandOver();

  Reporter (*const find_)();
  base::Mutex mutex_;
  Reporter reporter_ = nullptr;
  crossover_reductions state_{.header = {0, sizeof(crossover_reductions), 0, 0},
                              .asked = UINT32_MAX,
                              .reason = 0,
                              .ranks = 0,
                              .span = CROSSOVER_SPAN_UNKNOWN,
                              .narrowed = {},
                              .plain = {}};
};

}  // namespace crossover::shrink::library
