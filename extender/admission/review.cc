#include "extender/admission/review.h"

#include <utility>

#include "common/base/refusal.h"
#include "common/kube/json.h"
#include "common/text/truncate.h"
#include "extender/admission/base64.h"

namespace crossover::extender::admission {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr char kVersion[] = "admission.k8s.io/v1";
constexpr char kKind[] = "AdmissionReview";

// Returns the JSON in `body`, without values that are nested deeper than kDeepest; if it dropped any,
// `too_deep` becomes true. Returns a discarded value if `body` is not JSON. So no code that walks through the
// result recursively can run out of stack.
json Parse(std::string_view body, bool* too_deep) {
  const auto keep = [too_deep](int depth, json::parse_event_t, const json&) {
    if (depth > kDeepest) *too_deep = true;
    return depth <= kDeepest;
  };
  return json::parse(body, keep, false);
}

// Returns `text`, cut to at most `most` bytes and ended by ".." if it is longer. Cuts between characters of
// UTF-8: users write in any script.
std::string Shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::string_view kDots = "..";
  return std::string(crossover::text::Truncate(text, most - kDots.size())).append(kDots);
}

}  // namespace

std::variant<Review, std::string> ParseReview(std::string_view body) {
  if (body.size() > kMostBytes)
    return base::Refusal("the review", "at most " + std::to_string(kMostBytes) + " bytes",
                         std::to_string(body.size()));
  bool too_deep = false;
  json parsed = Parse(body, &too_deep);
  if (too_deep) return "the review nests deeper than " + std::to_string(kDeepest) + " levels";
  if (parsed.is_discarded()) return "the review is no JSON";
  const std::string kind = Text(At(parsed, "kind")), version = Text(At(parsed, "apiVersion"));
  if (kind != kKind || version != kVersion)
    return base::Refusal("kind and apiVersion", std::string(kKind) + " of " + kVersion,
                         "\"" + base::Shown(kind) + "\" of \"" + base::Shown(version) + "\"");
  const json& request = At(parsed, "request");
  Review review;
  review.uid = Text(At(request, "uid"));
  if (review.uid.empty())
    return base::Refusal("request.uid", "a text that is not empty",
                         base::Shown(kube::Dump(At(request, "uid"))));
  review.operation = Text(At(request, "operation"));
  review.resource = Text(At(At(request, "resource"), "resource"));
  review.name_space = Text(At(request, "namespace"));
  review.user = Text(At(At(request, "userInfo"), "username"));
  const json& dry_run = At(request, "dryRun");
  review.dry_run = dry_run.is_boolean() && dry_run.get<bool>();
  review.object = At(request, "object");
  review.old_object = At(request, "oldObject");
  return review;
}

std::string AnswerTo(const std::string& uid, const Verdict& verdict) {
  json response = {{"uid", uid}, {"allowed", verdict.allowed}};
  if (!verdict.allowed) {
    response["status"] = {{"code", verdict.code}, {"message", verdict.refusal}};
  } else if (!verdict.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = Base64Of(kube::Dump(verdict.patch));
  }
  for (const std::string& warning : verdict.warnings)
    response["warnings"].push_back(Shortened(warning, kLongestWarning));
  return kube::Dump({{"apiVersion", kVersion}, {"kind", kKind}, {"response", std::move(response)}});
}

}  // namespace crossover::extender::admission
