#include "deviceplugin/status/publisher.h"

#include <algorithm>
#include <utility>

#include "common/base/names.h"
#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{500};
constexpr seconds kCalm{30};  // shortest time between two changes that are not urgent
constexpr std::chrono::minutes kAnew{
    10};  // the publisher writes this often without a change, because the object may be gone
constexpr seconds kAfterFailure{5};
constexpr char kPath[] = "/apis/" CROSSOVER_DOMAIN "/v1alpha1/gpunodes/";
constexpr char kApply[] = "?fieldManager=crossover-deviceplugin&force=true";

}  // namespace

Publisher::Publisher(kube::Access access, std::function<std::optional<GpuNode>()> look,
                     std::function<void()> on_published)
    : client_(std::move(access)),
      look_(std::move(look)),
      on_published_(std::move(on_published)),
      task_("xo-publish", kLook, [this] { Round(); }) {}

void Publisher::Round() {
  const auto now = steady_clock::now();
  if (now < again_) return;
  const auto node = look_();
  if (!node) return;
  std::string body = BodyOf(*node);
  std::string urgent = UrgentPartOf(*node);
  const bool wanted = published_.empty() || urgent != urgent_ ||
                      (body != published_ && now - when_ >= kCalm) || now - when_ >= kAnew;
  if (!wanted) return;
  if (!Publish(*node, body)) {
    ++failures_;
    again_ = steady_clock::now() + std::max(kAfterFailure, retry_after_);
    return;
  }
  published_ = std::move(body);
  urgent_ = std::move(urgent);
  when_ = now;
  if (on_published_) on_published_();
}

bool Publisher::Publish(const GpuNode& node, const std::string& body) {
  const kube::Response response = client_.Send({.method = "PATCH",
                                                .path = kPath + node.name + kApply,
                                                .body = body,
                                                .content_type = "application/apply-patch+yaml"});
  retry_after_ = response.retry_after;
  const bool done = response.status == 200 || response.status == 201;
  std::string complaint = done ? "" : WhyNot(response);
  if (!done && complaint != complaint_)
    logging::Warn("the GPUNode of this node cannot be written: " + complaint);
  complaint_ = std::move(complaint);
  return done;
}

}  // namespace crossover::deviceplugin
