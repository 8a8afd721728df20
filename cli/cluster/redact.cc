// Removes from objects what their owners may want to keep private.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/cluster/bundle.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

constexpr char kRemoved[] = "(removed)";
// Keys of these domains, and of domains below them, are kept.
constexpr std::string_view kDomains[] = {"crossover.dev", "nvidia.com", "kubernetes.io",
                                         "sigs.k8s.io",   "x-k8s.io",   "scheduling.k8s.io"};
// Keys of these names belong to such domains, but their values are removed, too: the values hold a whole
// object as it was applied, or a user's text.
constexpr std::string_view kWritten[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                         "kubernetes.io/change-cause", "kubernetes.io/description"};

void Redact(json* value);

using Names = std::initializer_list<std::string_view>;

template <class Texts>
bool Has(const Texts& texts, std::string_view text) {
  return std::find(std::begin(texts), std::end(texts), text) != std::end(texts);
}

bool IsKnown(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos || Has(kWritten, key)) return false;
  const std::string_view domain = key.substr(0, slash);
  return std::any_of(std::begin(kDomains), std::end(kDomains), [domain](std::string_view known) {
    return domain == known || (domain.ends_with(known) && domain[domain.size() - known.size() - 1] == '.');
  });
}

void Remove(json* value) { *value = kRemoved; }

// Removes the values of annotations or labels with unknown keys.
void RedactMap(json* map) {
  if (!map->is_object()) return;
  for (auto& [key, value] : map->items()) {
    if (!IsKnown(key)) Remove(&value);
  }
}

void RemoveAt(json* object, const char* key) {
  if (object->is_object() && object->contains(key)) Remove(&(*object)[key]);
}

void RedactExpressions(json* expressions) {
  if (!expressions->is_array()) return;
  for (json& expression : *expressions) {
    if (!IsKnown(TextAt(expression, {"key"}))) RemoveAt(&expression, "values");
  }
}

void RedactEnvironment(json* environment) {
  if (!environment->is_array()) return;
  for (json& entry : *environment) RemoveAt(&entry, "value");
}

// Removes all values of an object except those of `kept`; does so for each item of a list.
void KeepOnly(json* value, Names kept) {
  if (value->is_array()) {
    for (json& item : *value) KeepOnly(&item, kept);
  }
  if (!value->is_object()) return;
  for (auto& [key, item] : value->items()) {
    if (Has(kept, key)) {
      Redact(&item);
    } else {
      Remove(&item);
    }
  }
}

// Keeps only port and scheme of a request, because its path and headers may contain tokens.
void RedactRequest(json* request) { KeepOnly(request, {"port", "scheme"}); }

// Keeps only these kinds of volumes. Others may have options of a driver, or addresses with a password.
void RedactVolumes(json* volumes) {
  KeepOnly(volumes, {"name", "hostPath", "emptyDir", "configMap", "secret", "projected", "downwardAPI",
                     "persistentVolumeClaim"});
}

// Removes the message, which may be the end of a user's log.
void RedactEnd(json* terminated) { RemoveAt(terminated, "message"); }

// Removes the message, which may contain a command, or what a hook wrote. It cannot if the reason says that
// the container was not made yet.
void RedactWait(json* waiting) {
  constexpr std::string_view before[] = {"CreateContainerConfigError", "ErrImagePull", "ImagePullBackOff"};
  if (!Has(before, TextAt(*waiting, {"reason"}))) RemoveAt(waiting, "message");
}

void RedactEndpoints(json* endpoints) {
  KeepOnly(endpoints, {"port", "portNumber", "targetPort", "path", "scheme", "interval", "scrapeTimeout",
                       "honorLabels", "honorTimestamps", "relabelings", "metricRelabelings"});
}

using Redactor = void (*)(json* value);

const std::map<std::string, Redactor>& Redactors() {
  static const std::map<std::string, Redactor> redactors = {
      {"annotations", RedactMap},
      {"args", Remove},
      {"command", Remove},
      {"env", RedactEnvironment},
      {"httpGet", RedactRequest},
      {"labels", RedactMap},
      {"matchExpressions", RedactExpressions},
      {"matchLabels", RedactMap},
      {"nodeSelector", RedactMap},
      {"podMetricsEndpoints", RedactEndpoints},
      {"terminated", RedactEnd},
      {"volumes", RedactVolumes},
      {"waiting", RedactWait},
  };
  return redactors;
}

void Redact(json* value) {
  if (value->is_array()) {
    for (json& item : *value) Redact(&item);
  }
  if (!value->is_object()) return;
  value->erase("managedFields");
  for (auto& [key, item] : value->items()) {
    const auto redactor = Redactors().find(key);
    if (redactor == Redactors().end()) {
      Redact(&item);
    } else {
      redactor->second(&item);
    }
  }
}

}  // namespace

json Redacted(const json& items) {
  json copy = items;
  Redact(&copy);
  return copy;
}

}  // namespace crossover::cli
