#include "extender/gang/kube_api.h"

#include <algorithm>
#include <cctype>

#include "common/base/clock.h"
#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/logging/log.h"
#include "extender/gang/made_room.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr long kForbidden = 403;
constexpr long kNotFound = 404;
constexpr long kConflict = 409;
constexpr long kUnprocessable = 422;
constexpr long kTooMany = 429;
constexpr long kInternalError = 500;

// The pause after a nomination that failed. The cause usually holds for all pods, and for long.
constexpr std::int64_t kWithoutNominationsNs = 60'000'000'000;

bool IsDone(const kube::Response& response) { return response.status >= 200 && response.status < 300; }
// Returns whether the request was not carried out. That includes kTooMany.
bool IsRefused(const kube::Response& response) { return response.status >= 400 && response.status < 500; }
// Returns whether a disruption budget is why an eviction was refused, or was not tried because the pod has
// several budgets. The first is status 429, as if the API server is busy.
bool IsForbidden(const kube::Response& response) {
  if (response.status != kTooMany && response.status != kInternalError) return false;
  const json status = json::parse(response.body, nullptr, false);
  for (const json& cause : kube::ListAt(At(status, "details"), "causes")) {
    if (Text(At(cause, "reason")) == "DisruptionBudget") return true;
  }
  return Text(At(status, "message")).find("more than one PodDisruptionBudget") != std::string::npos;
}
// Returns the words of the API server about a disruption budget: the budget's own if it has some.
std::string WhyForbidden(const kube::Response& response) {
  const json status = json::parse(response.body, nullptr, false);
  for (const json& cause : kube::ListAt(At(status, "details"), "causes")) {
    const std::string words = Text(At(cause, "message"));
    if (!words.empty()) return words;
  }
  return Text(At(status, "message"));
}
// Returns the result of a failed request, if it would not help to read the pod.
Result NotDone(const kube::Response& response) {
  return {.outcome = IsRefused(response) ? Outcome::kRefused : Outcome::kUnknown,
          .error = response.status == kTooMany ? "the API server is busy" : WhyNot(response),
          .retry_after_s = static_cast<double>(response.retry_after.count())};
}
// Returns whether the refusal may mean that the name now belongs to another pod, or that the pod is bound.
bool IsConflict(const kube::Response& response) {
  return response.status == kConflict || response.status == kUnprocessable;
}

std::string PathOf(const PodRef& pod) { return "/api/v1/namespaces/" + pod.name_space + "/pods/" + pod.name; }

// Returns a patch of a pod's annotations with its UID as the precondition. It is sent as a strategic merge
// patch: that can remove one gate by its name and keep the gates of other controllers.
json PatchOf(const Action& action, const json& annotations) {
  return {{"metadata", {{"uid", action.pod.uid}, {"annotations", annotations}}}};
}

// Returns the annotations of a reservation. A null `reservation`, and what the action does not have, remove
// theirs.
json Reserved(const json& reservation, const Action& action) {
  const json bytes = action.memory == 0 ? json() : json(std::to_string(action.memory));
  const json choice = action.shrink.empty() ? json() : json(action.shrink);
  return {{base::kReservationAnnotation, reservation},
          {base::kGrantedMemoryAnnotation, bytes},
          {base::kShrinkChoiceAnnotation, choice},
          {base::kShrinkWhyAnnotation, action.shrink.empty() ? json() : json(action.shrink_why)}};
}

kube::Client::Request Patch(const Action& action, const json& patch) {
  return {.method = "PATCH",
          .path = PathOf(action.pod),
          .body = kube::Dump(patch),
          .content_type = "application/strategic-merge-patch+json"};
}

kube::Client::Request Binding(const Action& action) {
  json metadata = {{"name", action.pod.name}, {"namespace", action.pod.name_space}, {"uid", action.pod.uid}};
  if (!action.text.empty()) metadata["annotations"] = {{base::kAssignmentAnnotation, action.text}};
  const json binding = {{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", metadata},
                        {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", action.node}}}};
  return {.method = "POST", .path = PathOf(action.pod) + "/binding", .body = kube::Dump(binding)};
}

// Returns the request that evicts a pod. An eviction heeds disruption budgets, and sets the condition
// DisruptionTarget, which a Job's policy for failed pods may ignore. A plain deletion counts as a failure of
// the Job.
kube::Client::Request EvictionOf(const Action& action) {
  const json eviction = {{"apiVersion", "policy/v1"},
                         {"kind", "Eviction"},
                         {"metadata", {{"name", action.pod.name}, {"namespace", action.pod.name_space}}},
                         {"deleteOptions", {{"preconditions", {{"uid", action.pod.uid}}}}}};
  return {.method = "POST", .path = PathOf(action.pod) + "/eviction", .body = kube::Dump(eviction)};
}

bool IsWord(const std::string& text, const char* more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [more](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string(more).find(c) != std::string::npos;
  });
}

}  // namespace

kube::Client::Request RequestOf(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kReserve:
      return Patch(action, PatchOf(action, Reserved(action.text, action)));
    case Action::Kind::kSettle:
      return Patch(action, PatchOf(action, {{base::kReservationAnnotation, action.text}}));
    case Action::Kind::kAge:
      return Patch(action, PatchOf(action, {{kMadeRoomAnnotation, action.text}}));
    case Action::Kind::kShare:
      return Patch(action, PatchOf(action, {{base::kWeightsAnnotation, action.text}}));
    case Action::Kind::kClear:
      return Patch(action, PatchOf(action, Reserved(nullptr, action)));
    case Action::Kind::kRelease: {
      json patch = PatchOf(action, {{base::kRequeueAnnotation, action.text}});
      patch["spec"]["schedulingGates"] = {{{"$patch", "delete"}, {"name", base::kGangGate}}};
      if (!action.preferences.empty()) {
        patch["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
            json::parse(action.preferences);
      }
      return Patch(action, patch);
    }
    case Action::Kind::kBind:
      return Binding(action);
    case Action::Kind::kEvict:
      return EvictionOf(action);
    case Action::Kind::kReadOwner:
    case Action::Kind::kAnswer:
    case Action::Kind::kTell:
      break;
  }
  return {};
}

std::optional<kube::Client::Request> NominationOf(const Action& action) {
  const bool clears = action.kind == Action::Kind::kClear;
  if (!clears && (action.kind != Action::Kind::kRelease || action.node.empty())) return std::nullopt;
  const json node = clears ? json() : json(action.node);
  auto request =
      Patch(action, {{"metadata", {{"uid", action.pod.uid}}}, {"status", {{"nominatedNodeName", node}}}});
  request.path += "/status";
  return request;
}

std::string PathOf(const OwnerRef& owner) {
  if (!IsWord(owner.kind, "") || !IsWord(owner.api_version, "./-") || !IsWord(owner.name_space, "-") ||
      !IsWord(owner.name, "-."))
    return "";
  std::string plural = owner.kind + "s";
  for (char& c : plural) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool core = owner.api_version.find('/') == std::string::npos;
  return (core ? "/api/" : "/apis/") + owner.api_version + "/namespaces/" + owner.name_space + "/" + plural +
         "/" + owner.name;
}

// Sends the request that sets or removes a nomination. Returns nothing if the release or its removal may go
// on, else the failure. Without a nomination the scheduler looks at all nodes, and Filter() leaves it the
// same one. A failed nomination therefore does not stop a release. But this process removes a nomination
// before it removes the reservation, except if the API server forbids it: else the scheduler keeps room on
// the node for a pod that has no place there.
std::optional<Result> KubeApi::Nominate(const Action& action, const kube::Client::Request& request) {
  const bool clears = action.kind == Action::Kind::kClear;
  if (!clears && base::MonotonicNs() < nominates_from_ns_) return std::nullopt;
  const kube::Response response = client_.Send(request);
  // The pod may be gone, bound, or another one by now. The next request tells which.
  if (IsDone(response) || IsConflict(response) || response.status == kNotFound) return std::nullopt;
  if (response.status == kTooMany) return NotDone(response);
  if (nomination_failures_++ == 0) {
    const std::string what = clears ? "the nominated node of a pod could not be removed: "
                                    : "schedulers are not told which node to try first, and look at all: ";
    logging::Warn("gang: " + what + request.path + ": " + WhyNot(response));
  }
  if (!clears) nominates_from_ns_ = base::MonotonicNs() + kWithoutNominationsNs;
  if (!clears || response.status == kForbidden) return std::nullopt;
  return NotDone(response);
}

Result KubeApi::Write(const Action& action) {
  if (const auto nomination = NominationOf(action)) {
    if (auto failed = Nominate(action, *nomination)) return *failed;
    if (!leads_()) return {.error = "this extender leads no more"};
  }
  const kube::Response response = client_.Send(RequestOf(action));
  if (IsDone(response)) {
    const json object = json::parse(response.body, nullptr, false);
    const json& metadata = At(object, "metadata");
    // The answer to a Binding or an eviction may be a Status, which has no version of the pod.
    const bool is_pod = Text(At(metadata, "uid")) == action.pod.uid;
    return {.outcome = Outcome::kDone, .version = is_pod ? Text(At(metadata, "resourceVersion")) : ""};
  }
  if (response.status == kNotFound) return {.outcome = Outcome::kGone};
  // No pause follows: the budget says nothing of other writes.
  if (action.kind == Action::Kind::kEvict && IsForbidden(response))
    return {.outcome = Outcome::kRefused, .error = WhyForbidden(response), .forbidden = true};
  // An earlier Binding may have succeeded without its answer having arrived.
  const bool asks = action.kind == Action::Kind::kBind && IsRefused(response) && response.status != kTooMany;
  if (asks || IsConflict(response)) return AfterConflict(action, response);
  return NotDone(response);
}

// Reads the pod after a refused write, and returns what became of the write: the name may belong to another
// pod by now, or the pod may be bound already.
Result KubeApi::AfterConflict(const Action& action, const kube::Response& response) {
  const kube::Response now = client_.Get(PathOf(action.pod));
  if (now.status == kNotFound) return {.outcome = Outcome::kGone};
  const json pod = json::parse(now.body, nullptr, false);
  if (now.status != 200 || !pod.is_object())
    return {.outcome = Outcome::kUnknown,
            .error = WhyNot(response),
            .retry_after_s = static_cast<double>(now.retry_after.count())};
  if (Text(At(At(pod, "metadata"), "uid")) != action.pod.uid) return {.outcome = Outcome::kGone};
  return {.outcome = Outcome::kRefused,
          .version = kube::VersionOf(pod),
          .node = Text(At(At(pod, "spec"), "nodeName")),
          .looked = true,
          .error = WhyNot(response)};
}

json KubeApi::Read(const OwnerRef& owner, std::string* error) {
  const std::string path = PathOf(owner);
  if (path.empty()) {
    *error = "expected a kind, version and names that an object can have, got others";
    return nullptr;
  }
  const kube::Response response = client_.Get(path);
  if (response.status != 200) {
    *error = WhyNot(response);
    return nullptr;
  }
  json object = json::parse(response.body, nullptr, false);
  if (object.is_discarded()) {
    *error = path + ": expected an object in JSON, got another answer";
    return nullptr;
  }
  return object;
}

void KubeApi::Tell(const Action& action) {
  events_.Tell({.regarding = {"Pod", action.pod.name_space, action.pod.name, action.pod.uid},
                .warning = action.warning,
                .reason = action.reason,
                .action = action.doing,
                .note = action.text,
                .paced = true});
}

}  // namespace crossover::extender
