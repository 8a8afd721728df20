#include "extender/admission/kube_certificates.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/kube/json.h"
#include "common/logging/log.h"
#include "extender/admission/base64.h"

namespace crossover::extender::admission {
namespace {

using kube::At;
using kube::Text;
using kube::VersionOf;
using nlohmann::json;

constexpr long kOk = 200, kCreated = 201, kNotFound = 404;
constexpr char kConfigurations[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/";

std::string SecretsIn(const std::string& name_space) {
  return "/api/v1/namespaces/" + name_space + "/secrets";
}

// Returns the object in the response, or null if there is none.
json ObjectIn(const kube::Response& response) {
  json object = response.status == kOk ? json::parse(response.body, nullptr, false) : json();
  return object.is_object() ? object : json();
}

}  // namespace

KubeCertificates::KubeCertificates(kube::Access access, Names names)
    : client_(std::move(access)), names_(std::move(names)) {}

void KubeCertificates::Complain(const std::string& path, const kube::Response& response) {
  // The body of such an answer is not logged: it may be part of a Secret, with keys in it.
  const std::string why = response.status == kOk ? "the answer is no object" : kube::WhyNot(response);
  std::string complaint = "webhook: " + path + ": " + why;
  if (complaint != complaint_) logging::Warn(complaint);
  complaint_ = std::move(complaint);
}

json KubeCertificates::ObjectAt(const std::string& path) {
  const kube::Response response = client_.Get(path);
  json object = ObjectIn(response);
  if (object.is_null()) Complain(path, response);
  return object;
}

std::optional<CertificateObjects::Secret> KubeCertificates::ReadSecret() {
  const std::string path = SecretsIn(names_.name_space) + "/" + names_.secret;
  const kube::Response response = client_.Get(path);
  if (response.status == kNotFound) return Secret();
  const json object = ObjectIn(response);
  if (object.is_null()) {
    Complain(path, response);
    return std::nullopt;
  }
  Secret secret{.version = VersionOf(object), .data = {}};
  const json& data = At(object, "data");
  if (!data.is_object()) return secret;
  for (const auto& [key, value] : data.items()) secret.data[key] = BytesOf(Text(value)).value_or("");
  return secret;
}

bool KubeCertificates::WriteSecret(const Secret& secret) {
  json object = {{"data", json::object()}};
  for (const auto& [key, value] : secret.data) object["data"][key] = Base64Of(value);
  kube::Client::Request request{.method = "POST", .path = SecretsIn(names_.name_space), .body = ""};
  if (secret.version.empty()) {
    object["apiVersion"] = "v1";
    object["kind"] = "Secret";
    object["type"] = "kubernetes.io/tls";
    object["metadata"] = {{"name", names_.secret}};
  } else {
    request.method = "PATCH";
    request.path += "/" + names_.secret;
    request.content_type = "application/merge-patch+json";
    object["metadata"] = {{"resourceVersion", secret.version}};
  }
  request.body = object.dump();
  const kube::Response response = client_.Send(request);
  if (response.status == kOk || response.status == kCreated) return true;
  Complain(request.path, response);
  return false;
}

std::optional<std::map<std::string, std::string>> KubeCertificates::ReadBundles() {
  const json object = ObjectAt(kConfigurations + names_.configuration);
  if (object.is_null()) return std::nullopt;
  std::map<std::string, std::string> bundles;
  const json& webhooks = At(object, "webhooks");
  for (const json& webhook : webhooks.is_array() ? webhooks : json::array())
    bundles[Text(At(webhook, "name"))] =
        BytesOf(Text(At(At(webhook, "clientConfig"), "caBundle"))).value_or("");
  return bundles;
}

bool KubeCertificates::WriteBundles(const std::string& bundle) {
  const std::string path = kConfigurations + names_.configuration;
  const json object = ObjectAt(path);
  const json& webhooks = At(object, "webhooks");
  if (!webhooks.is_array()) return false;
  // The patch applies only to the version that was read: it addresses webhooks by their position in the
  // list.
  json patch = json::array();
  patch.push_back({{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", VersionOf(object)}});
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    patch.push_back({{"op", "add"},
                     {"path", "/webhooks/" + std::to_string(i) + "/clientConfig/caBundle"},
                     {"value", Base64Of(bundle)}});
  }
  const kube::Response response = client_.Send(
      {.method = "PATCH", .path = path, .body = patch.dump(), .content_type = "application/json-patch+json"});
  if (response.status == kOk) return true;
  Complain(path, response);
  return false;
}

}  // namespace crossover::extender::admission
