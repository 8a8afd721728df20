#include "deviceplugin/metrics/server.h"

#include <CivetServer.h>
#include <prometheus/collectable.h>
#include <prometheus/text_serializer.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/all_addresses.h"
#include "common/base/fd.h"
#include "common/base/own_sockets.h"
#include "common/kube/metrics_access.h"
#include "common/text/number.h"
#include "deviceplugin/metrics/other_socket.h"

namespace crossover::deviceplugin {
namespace {

// A client that connects and sends nothing occupies a thread until the timeout. Probes must still find a
// free thread.
constexpr char kThreads[] = "8";
constexpr char kSilenceMs[] = "2000";

// Returns the port if `listen` is [::]:port, which stands for all addresses of both families.
std::optional<std::uint16_t> PortOnAllAddresses(const std::string& listen) {
  constexpr std::int64_t kMost = 65'535;
  const std::string all = std::string(base::kAllAddresses) + ":";
  if (!listen.starts_with(all)) return std::nullopt;
  const auto port = text::ParseInteger(std::string_view(listen).substr(all.size()), 0, kMost);
  return port ? std::optional(static_cast<std::uint16_t>(*port)) : std::nullopt;
}

constexpr char kOk[] = "200 OK", kUnavailable[] = "503 Service Unavailable",
               kFailed[] = "500 Internal Server Error";

struct Answer {
  const char* status = kOk;
  std::string text;
  std::string_view type = "text/plain; charset=utf-8";
};

void Send(mg_connection* connection, const Answer& answer) {
  mg_printf(connection,
            "HTTP/1.1 %s\r\nContent-Type: %.*s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
            answer.status, static_cast<int>(answer.type.size()), answer.type.data(), answer.text.size());
  mg_write(connection, answer.text.data(), answer.text.size());
}

class Page : public CivetHandler {
 public:
  using Make = std::function<Answer(const std::string& authorization)>;

  explicit Page(Make make) : make_(std::move(make)) {}
  bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
    const char* authorization = mg_get_header(connection, "Authorization");
    try {
      Send(connection, make_(authorization != nullptr ? authorization : ""));
    } catch (const std::exception&) {  // no request may end the daemon
      Send(connection, {.status = kFailed, .text = "this request cannot be answered\n"});
    }
    return true;
  }

 private:
  Make make_;
};

const char* Line(int status) {
  switch (status) {
    case 401:
      return "401 Unauthorized";
    case 403:
      return "403 Forbidden";
    default:
      return kUnavailable;
  }
}

Answer Metrics(const MetricsServer::Sources& sources, const std::string& authorization) {
  constexpr int kMayRead = 200;
  const int status = sources.access ? sources.access(authorization) : kMayRead;
  if (status != kMayRead)
    return {.status = Line(status), .text = std::string(kube::MetricsAccess::WhyNot(status)) + "\n"};
  std::vector<prometheus::MetricFamily> families;
  for (const auto& source : sources.metrics) {
    for (auto& family : source->Collect()) families.push_back(std::move(family));
  }
  return {.text = prometheus::TextSerializer().Serialize(families),
          .type = "text/plain; version=0.0.4; charset=utf-8"};
}

Answer Health(const MetricsServer::Sources& sources) {
  const bool alive = !sources.alive || sources.alive();
  return {.status = alive ? kOk : kUnavailable,
          .text = alive ? "ok\n" : "the thread that keeps the turns does not answer\n"};
}

Answer Readiness(const MetricsServer::Sources& sources) {
  Answer answer;
  for (const std::string& line : sources.missing ? sources.missing() : std::vector<std::string>()) {
    answer.status = kUnavailable;
    answer.text += line + "\n";
  }
  if (answer.text.empty()) answer.text = "ok\n";
  return answer;
}

}  // namespace

class MetricsServer::Pages {
 public:
  explicit Pages(Sources sources) : sources_(std::move(sources)) {}
  void AddTo(CivetServer* server) {
    server->addHandler("/metrics$", metrics_);
    server->addHandler("/healthz$", health_);
    server->addHandler("/readyz$", readiness_);
  }

 private:
  const Sources sources_;
  Page metrics_{[this](const std::string& authorization) { return Metrics(sources_, authorization); }};
  Page health_{[this](const std::string&) { return Health(sources_); }};
  Page readiness_{[this](const std::string&) { return Readiness(sources_); }};
};

MetricsServer::MetricsServer() = default;
MetricsServer::~MetricsServer() = default;

std::unique_ptr<MetricsServer> MetricsServer::Start(const std::string& listen, Sources sources,
                                                    std::string* error) {
  std::unique_ptr<MetricsServer> made(new MetricsServer);
  made->pages_ = std::make_unique<Pages>(std::move(sources));
  *error = "metrics.listen: " + listen +
           ": cannot listen there (in use, not an address of this machine, or not allowed to this process)";
  const auto of_all = PortOnAllAddresses(listen);
  base::UniqueFd all;
  std::string own = listen;
  if (of_all && base::HasIpv6()) {
    all = ListenOnAllAddresses(*of_all);
    if (!all) return nullptr;
    own = "127.0.0.1:0";  // until the other socket takes over
  } else if (of_all) {
    own = "0.0.0.0:" + std::to_string(*of_all);
  }
  try {
    made->server_ = std::make_unique<CivetServer>(std::vector<std::string>{
        "listening_ports", own, "num_threads", kThreads, "request_timeout_ms", kSilenceMs});
  } catch (const std::exception&) {
    return nullptr;
  }
  const std::vector<int> ports = made->server_->getListeningPorts();
  const auto port = static_cast<std::uint16_t>(ports.empty() ? 0 : ports.front());
  made->port_ = all ? base::LocalPort(all.get()) : port;
  if (all && !TakeOver(port, std::move(all))) return nullptr;
  made->pages_->AddTo(made->server_.get());
  error->clear();
  return made;
}

}  // namespace crossover::deviceplugin
