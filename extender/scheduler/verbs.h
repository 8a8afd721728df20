// The verbs of a scheduler extender over HTTP: what is asked is read, decided, answered and counted.
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "extender/http/server.h"
#include "extender/scheduler/decider.h"

namespace crossover::extender {

// Is told of every answer, on any thread.
class VerbObserver {
 public:
  virtual ~VerbObserver() = default;
  // `verb`: filter, prioritize, bind or preempt. `outcome`: one of few words.
  virtual void OnAnswered(std::string_view verb, std::string_view outcome, double seconds) = 0;
};

class Verbs {
 public:
  // `leads`: whether this process decides; while it does not, every verb is answered with 503, and the
  // scheduler comes back. All three outlive it, and `observer` outlives `decider`, which may answer held
  // binds at its own end; that may be null: nobody decides.
  Verbs(Decider* decider, std::function<bool()> leads, VerbObserver* observer)
      : decider_(decider), leads_(std::move(leads)), observer_(observer) {}

  // Of /filter, /prioritize, /bind and /preempt.
  std::map<std::string, HttpServer::Handler> Handlers();

 private:
  struct Call;

  HttpServer::Handler Handler(const char* verb, void (Verbs::*answer)(const HttpRequest&, const Call&));
  void Filter(const HttpRequest& request, const Call& call);
  void Prioritize(const HttpRequest& request, const Call& call);
  void Bind(const HttpRequest& request, const Call& call);
  void Preempt(const HttpRequest& request, const Call& call);

  Decider* const decider_;
  const std::function<bool()> leads_;
  VerbObserver* const observer_;
};

}  // namespace crossover::extender
