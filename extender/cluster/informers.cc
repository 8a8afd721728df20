#include "extender/cluster/informers.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/base/names.h"
#include "extender/cluster/informer_sink.h"
#include "extender/cluster/parse_budget.h"

namespace crossover::extender {
namespace {

using Options = kube::ListWatch::Options;

constexpr char kOurs[] = "/apis/" CROSSOVER_DOMAIN "/v1alpha1/";

// These fields of a Node are most of the object, and no parser reads them.
const std::set<std::string> kOfNodes = {"addresses",       "capacity",    "config",   "daemonEndpoints",
                                        "features",        "images",      "nodeInfo", "runtimeHandlers",
                                        "volumesAttached", "volumesInUse"};
const std::set<std::string> kOfBudgets = {"conditions", "disruptedPods"};
const std::set<std::string> kOfPods = {"hostAliases", "imagePullSecrets", "volumes"};

std::string PodsPath() {
  return std::string("/api/v1/pods?labelSelector=") + CROSSOVER_DOMAIN "%2Fmanaged%3Dtrue";
}

// Returns "namespace/name". The first slash splits it again: no namespace contains a slash.
template <class Object>
std::string KeyOf(const Object& object) {
  return object.name_space + "/" + object.name;
}

// Returns a function that takes a key of KeyOf(), "namespace/name". It calls the function `gone` of the
// listener with the namespace and the name.
std::function<void(const std::string&)> TellGone(Listener* listener,
                                                 void (Listener::*gone)(const std::string&,
                                                                        const std::string&)) {
  return [=](const std::string& key) {
    const std::size_t slash = key.find('/');
    (listener->*gone)(key.substr(0, slash), key.substr(slash + 1));
  };
}

}  // namespace

Informers::Informers(const kube::Access& access, Listener* listener, std::chrono::milliseconds least_pause) {
  const auto watch = [&](std::string path, auto sink, bool may_lack, std::set<std::string> without) {
    sinks_.push_back(std::make_unique<decltype(sink)>(std::move(sink)));
    Options options;
    options.streamed = true;
    options.may_lack = may_lack;
    options.without = std::move(without);
    options.least_pause = least_pause;
    watches_.push_back(
        std::make_unique<kube::ListWatch>(access, std::move(path), sinks_.back().get(), options));
  };
  watch("/api/v1/nodes",
        InformerSink<Node>({.parse = api::ParseNode,
                            .key = [](const Node& node) { return node.name; },
                            .put = [=](Node node) { listener->OnNode(std::move(node)); },
                            .gone = [=](const std::string& name) { listener->OnNodeGone(name); }}),
        false, kOfNodes);
  watch(std::string(kOurs) + "gpunodes",
        InformerSink<GpuNode>({.parse = api::ParseGpuNode,
                               .key = [](const GpuNode& node) { return node.name; },
                               .put = [=](GpuNode node) { listener->OnGpuNode(std::move(node)); },
                               .gone = [=](const std::string& name) { listener->OnGpuNodeGone(name); }}),
        true, {});
  watch(std::string(kOurs) + "jobprofiles",
        InformerSink<JobProfile>({.parse = api::ParseJobProfile,
                                  .key = KeyOf<JobProfile>,
                                  .put = [=](JobProfile profile) { listener->OnProfile(std::move(profile)); },
                                  .gone = TellGone(listener, &Listener::OnProfileGone)}),
        true, {});
  watch("/apis/policy/v1/poddisruptionbudgets",
        InformerSink<Budget>({.parse = ParseBudget,
                              .key = KeyOf<Budget>,
                              .put = [=](Budget budget) { listener->OnBudget(std::move(budget)); },
                              .gone = TellGone(listener, &Listener::OnBudgetGone)}),
        true, kOfBudgets);
  watch(PodsPath(),
        InformerSink<Pod>({.parse = api::ParsePod,
                           .key = [](const Pod& pod) { return pod.uid; },
                           .put = [=](Pod pod) { listener->OnPod(std::move(pod)); },
                           .gone = [=](const std::string& uid) { listener->OnPodGone(uid); }}),
        false, kOfPods);
}

Informers::~Informers() = default;

bool Informers::synced() const {
  return std::all_of(watches_.begin(), watches_.end(), [](const auto& watch) { return watch->synced(); });
}

}  // namespace crossover::extender
