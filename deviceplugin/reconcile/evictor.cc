#include "deviceplugin/reconcile/evictor.h"

#include <nlohmann/json.hpp>
#include <string>

#include "common/logging/log.h"

namespace crossover::deviceplugin {

bool Evictor::Evict(const Pod& pod) {
  const nlohmann::json eviction = {{"apiVersion", "policy/v1"},
                                   {"kind", "Eviction"},
                                   {"metadata", {{"name", pod.name}, {"namespace", pod.name_space}}},
                                   {"deleteOptions", {{"preconditions", {{"uid", pod.uid}}}}}};
  const kube::Response response =
      client_.Send({.method = "POST",
                    .path = "/api/v1/namespaces/" + pod.name_space + "/pods/" + pod.name + "/eviction",
                    .body = eviction.dump()});
  const bool done = response.status == 200 || response.status == 201;
  ++(done ? accepted_ : refused_);
  constexpr const char* kWhy =
      "the kubelet gave its slot to two pods, or its GPU to another rank of its gang";
  logging::Warn("pod " + NameOf(pod) +
                (done ? std::string(" is evicted, so that its controller makes it again: ") + kWhy
                      : " was not evicted: " + WhyNot(response) + "; it has to leave its GPU: " + kWhy));
  return done;
}

}  // namespace crossover::deviceplugin
