// Serves the verbs of a scheduler extender over HTTP: reads each question, asks the SchedulerExtender,
// answers and counts. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "extender/http/server.h"
#include "extender/scheduler/scheduler_extender.h"

namespace crossover::extender {

// A VerbObserver is told of every answer, on any thread.
class VerbObserver {
 public:
  virtual ~VerbObserver() = default;
  // `verb` is filter, prioritize, bind or preempt. `outcome` is one of a few fixed words.
  virtual void OnAnswered(std::string_view verb, std::string_view outcome, double seconds) = 0;
};

class Verbs {
 public:
  // `leads` says whether this process decides. While it does not, or if `decider` is null, this answers every
  // verb with 503 and the scheduler asks again. REQUIRES: `decider` and `observer` outlive this object.
  // `observer` also outlives `decider`, which may answer held binds when it ends.
  Verbs(SchedulerExtender* decider, std::function<bool()> leads, VerbObserver* observer)
      : decider_(decider), leads_(std::move(leads)), observer_(observer) {}

  // Returns the handlers of /filter, /prioritize, /bind and /preempt.
  std::map<std::string, HttpServer::Handler> Handlers();

 private:
  struct Call;

  HttpServer::Handler Handler(const char* verb, void (Verbs::*answer)(const HttpRequest&, const Call&));
  void Filter(const HttpRequest& request, const Call& call);
  void Prioritize(const HttpRequest& request, const Call& call);
  void Bind(const HttpRequest& request, const Call& call);
  void Preempt(const HttpRequest& request, const Call& call);

  SchedulerExtender* const decider_;
  const std::function<bool()> leads_;
  VerbObserver* const observer_;
};

}  // namespace crossover::extender
