// libs: crossover::admission
// Sends the webhook a review, which may contain anything. The answer is a review of the same question. Its
// patch applies, and a pod that was patched is not patched again.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "common/kube/json.h"
#include "extender/admission/base64.h"
#include "extender/admission/webhook.h"

namespace admission = crossover::extender::admission;
using crossover::kube::At;
using nlohmann::json;

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::optional<admission::NamespaceLimits> NoLimits(const std::string&) {
  return admission::NamespaceLimits();
}

json Answer(const std::string& body) {
  const admission::Webhook webhook({}, NoLimits, nullptr);
  const auto answer = webhook.Answer(body);
  Require(answer.status == 200 || answer.status == 400);
  if (answer.status != 200) return {};
  const json parsed = json::parse(answer.body, nullptr, false);
  Require(!parsed.is_discarded());
  const json& response = At(parsed, "response");
  Require(response.contains("patch") == response.contains("patchType"));
  Require(response["allowed"].get<bool>() || !response.contains("patch"));
  return response;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  const json response = Answer(body);
  if (!response.is_object() || !response.contains("patch")) return 0;
  json review = json::parse(body);
  Require(review["request"]["uid"] == response["uid"]);
  const json patch = json::parse(*admission::BytesOf(response["patch"].get<std::string>()));
  review["request"]["object"] = review["request"]["object"].patch(patch);
  const json again = Answer(review.dump());
  Require(again["allowed"].get<bool>() && !again.contains("patch"));
  return 0;
}
