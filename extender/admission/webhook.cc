#include "extender/admission/webhook.h"

#include <chrono>
#include <exception>
#include <utility>

#include "common/base/refusal.h"
#include "common/kube/json.h"
#include "common/logging/log.h"
#include "extender/admission/update_validation.h"

namespace crossover::extender::admission {
namespace {

constexpr int kBadRequest = 400, kWrongMethod = 405, kInternalError = 500;

HttpAnswer Refusal(int status, std::string why) {
  return {.status = status, .body = std::move(why), .content_type = "text/plain"};
}

// Returns whether a kubelet makes the pod as the mirror of a static pod. A static pod runs whatever becomes
// of its mirror, so a refusal hides it and does not stop it. A user may set the annotation, but is no node.
bool IsMirror(const Review& review) {
  const nlohmann::json& annotations = kube::At(kube::At(review.object, "metadata"), "annotations");
  return review.user.starts_with("system:node:") && annotations.contains("kubernetes.io/config.mirror");
}

Decision Mirrored() {
  Decision decision{.outcome = Outcome::kLeftAlone, .verdict = {}};
  decision.verdict.warnings.push_back(
      "the pod is static: no scheduler places it, and Crossover does not rewrite it: expected a pod of the "
      "API server");
  return decision;
}

}  // namespace

Webhook::Webhook(Settings settings, LimitsLookup limits, Count* count)
    : settings_(std::move(settings)), limits_(std::move(limits)), count_(count) {}

void Webhook::Add(Outcome outcome) const {
  if (count_ != nullptr) count_->Add(outcome);
}

Decision Webhook::Decide(const Review& review) const {
  if (review.resource != "pods") return {};
  if (review.operation == "CREATE" && IsMirror(review)) return Mirrored();
  if (review.operation == "CREATE")
    return Rewrite(review.object, review.name_space, settings_.rewrite, limits_);
  Decision decision;
  if (review.operation != "UPDATE") return decision;
  auto refusal = RefusalOfChange(review.old_object, review.object, review.user, settings_.writers);
  if (!refusal) return decision;
  decision.outcome = Outcome::kRefused;
  decision.verdict.allowed = false;
  decision.verdict.refusal = *std::move(refusal);
  return decision;
}

HttpAnswer Webhook::Answer(const std::string& body) const noexcept try {
  const auto parsed = ParseReview(body);
  if (const auto* fault = std::get_if<std::string>(&parsed)) {
    Add(Outcome::kMalformed);
    return Refusal(kBadRequest, *fault);
  }
  const Review& review = std::get<Review>(parsed);
  const Decision decision = Decide(review);
  if (!review.dry_run) Add(decision.outcome);
  return {.status = 200, .body = AnswerTo(review.uid, decision.verdict), .content_type = "application/json"};
} catch (const std::exception& failure) {
  // Only this review fails. The webhook's failure policy is Fail, so the API server does not create or change
  // its pod.
  logging::Warn(std::string("webhook: a review could not be answered: ") + failure.what());
  Add(Outcome::kMalformed);
  return Refusal(kInternalError, "the review could not be answered");
}

HttpServer::Handler Webhook::handler() const {
  return [this](const HttpRequest& request, const HttpServer::Reply& reply) {
    if (request.method != "POST")
      return reply(Refusal(kWrongMethod, base::Refusal("method", "POST", base::Shown(request.method))));
    const auto begin = std::chrono::steady_clock::now();
    HttpAnswer answer = Answer(request.body);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (count_ != nullptr) count_->Took(took.count());
    reply(std::move(answer));
  };
}

}  // namespace crossover::extender::admission
