#include "extender/scheduler/verbs.h"

#include <chrono>
#include <memory>
#include <utility>

#include "common/base/refusal.h"
#include "extender/scheduler/wire.h"

namespace crossover::extender {
namespace {

constexpr int kBadRequest = 400;
constexpr int kMethodNotAllowed = 405;
constexpr int kUnavailable = 503;

HttpAnswer Plain(int status, const std::string& text) {
  return {.status = status, .body = text + "\n", .content_type = "text/plain; charset=utf-8"};
}

std::string_view OutcomeOf(const FilterAnswer& answer) {
  if (!answer.nodes.empty()) return "placed";
  return answer.failed.empty() ? "unresolvable" : "failed";
}

}  // namespace

// A Call is a request that is being answered.
struct Verbs::Call {
  const char* verb;
  HttpServer::Reply reply;
  VerbObserver* observer;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  void Answer(std::string_view outcome, const HttpAnswer& answer) const {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    observer->OnAnswered(verb, outcome, took.count());
    reply(answer);
  }
  // Answers a question that cannot be read. The status is 200, because the scheduler shows users the text
  // of such an answer and only the status of others.
  void Malformed(const std::string& body) const { Answer("malformed", {.status = 200, .body = body}); }
  void Away() const { Answer("away", Plain(kUnavailable, "this replica does not lead")); }
  void Unknown() const {
    Answer("unknown", Plain(kUnavailable, "this replica does not know the cluster or the pod yet"));
  }
};

HttpServer::Handler Verbs::Handler(const char* verb, void (Verbs::*answer)(const HttpRequest&, const Call&)) {
  return [this, verb, answer](const HttpRequest& request, HttpServer::Reply reply) {
    const Call call{.verb = verb, .reply = std::move(reply), .observer = observer_};
    if (request.method != "POST") {
      call.Answer("malformed",
                  Plain(kMethodNotAllowed, base::Refusal("method", "POST", base::Shown(request.method))));
    } else if (decider_ == nullptr || !leads_()) {
      call.Away();
    } else {
      (this->*answer)(request, call);
    }
  };
}

std::map<std::string, HttpServer::Handler> Verbs::Handlers() {
  return {{"/filter", Handler("filter", &Verbs::Filter)},
          {"/prioritize", Handler("prioritize", &Verbs::Prioritize)},
          {"/bind", Handler("bind", &Verbs::Bind)},
          {"/preempt", Handler("preempt", &Verbs::Preempt)}};
}

void Verbs::Filter(const HttpRequest& request, const Call& call) {
  ArgsParser reader;
  std::string error;
  const auto question = reader.Nodes(request.body, &error);
  if (!question) return call.Malformed(FilterErrorText("crossover-extender: filter: " + error));
  const auto answer = decider_->Filter(question->pod, question->nodes);
  // The lead may have ended since the handler looked.
  if (!answer) return leads_() ? call.Unknown() : call.Away();
  call.Answer(OutcomeOf(*answer), {.status = 200, .body = FilterText(*answer, question->nodes)});
}

void Verbs::Prioritize(const HttpRequest& request, const Call& call) {
  ArgsParser reader;
  std::string error;
  const auto question = reader.Nodes(request.body, &error);
  if (!question) return call.Answer("malformed", Plain(kBadRequest, "prioritize: " + error));
  const auto scores = decider_->Prioritize(question->pod, question->nodes);
  call.Answer("scored", {.status = 200, .body = PrioritizeText(scores, question->nodes)});
}

void Verbs::Bind(const HttpRequest& request, const Call& call) {
  ArgsParser reader;
  std::string error;
  const auto question = reader.Bind(request.body, &error);
  if (!question) return call.Malformed(BindText("crossover-extender: bind: " + error));
  // The SchedulerExtender may outlive the Verbs object and answers held binds when it ends. So the callback
  // holds a copy of the call.
  decider_->Bind(question->pod, question->node, [call](const std::string& why_not) {
    call.Answer(why_not.empty() ? "bound" : "refused", {.status = 200, .body = BindText(why_not)});
  });
}

void Verbs::Preempt(const HttpRequest& request, const Call& call) {
  ArgsParser reader;
  std::string error;
  auto question = reader.Preempt(request.body, &error);
  if (!question) return call.Answer("malformed", Plain(kBadRequest, "preempt: " + error));
  const auto left = decider_->Preempt(question->pod, std::move(question->by_node));
  call.Answer(left.empty() ? "refused" : "allowed", {.status = 200, .body = PreemptText(left)});
}

}  // namespace crossover::extender
