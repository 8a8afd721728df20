#include "deviceplugin/rpc/server.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>

#include <chrono>
#include <future>
#include <utility>

#include "common/logging/log.h"
#include "deviceplugin/rpc/service.h"
#include "deviceplugin/rpc/unix_acceptor.h"

namespace crossover::deviceplugin {
namespace {

constexpr int kMostRequestBytes = 4096;
constexpr int kMostResponseBytes = 64 << 20;
constexpr int kStreamsPerConnection = 16;
// There is one thread per watcher, and a few for calls that end at once.
constexpr int kMostThreads = static_cast<int>(StatsStore::kMostWatchers) + 8;
constexpr std::chrono::seconds kDrain{1};

// Sends gRPC's log lines to the daemon's log.
void Log(gpr_log_func_args* line) {
  if (line->severity == GPR_LOG_SEVERITY_ERROR) logging::Warn(std::string("api: gRPC: ") + line->message);
}

std::unique_ptr<grpc::Server> Build(NodeService* service) {
  gpr_set_log_function(Log);
  // This call keeps gRPC initialised forever: after a write that has failed, its shutdown takes ten seconds.
  grpc_init();
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("api");
  quota.SetMaxThreads(kMostThreads);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMostRequestBytes);
  builder.SetMaxSendMessageSize(kMostResponseBytes);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  builder.RegisterService(service);
  return builder.BuildAndStart();
}

}  // namespace

struct ApiServer::Parts {
  explicit Parts(Backend backend) : stats_store(backend.stats_store), service(std::move(backend)) {}

  StatsStore* stats_store;
  NodeService service;
  std::unique_ptr<grpc::Server> server;
  UnixAcceptor acceptor;  // last: it hands connections to the server
};

ApiServer::ApiServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

std::unique_ptr<ApiServer> ApiServer::Start(const std::string& socket_path, Backend backend,
                                            std::string* error) {
  auto parts = std::make_unique<Parts>(std::move(backend));
  if (!parts->acceptor.Open(socket_path, error)) return nullptr;
  parts->server = Build(&parts->service);
  if (parts->server == nullptr) {
    *error = "api.socket: " + socket_path + ": the gRPC server does not start";
    return nullptr;
  }
  parts->acceptor.Accept([server = parts->server.get()](base::UniqueFd socket) {
    grpc::AddInsecureChannelFromFd(server, socket.Release());
  });
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(parts)));
}

ApiServer::~ApiServer() {
  parts_->acceptor.Close();
  parts_->stats_store->EndWatches();
  // Shutdown waits for a peer that does not read, even after its deadline. HangUp makes the pending writes
  // fail.
  const auto ended = std::async(
      std::launch::async, [this] { parts_->server->Shutdown(std::chrono::system_clock::now() + kDrain); });
  if (ended.wait_for(kDrain) != std::future_status::ready) parts_->acceptor.HangUp();
  ended.wait();
}

}  // namespace crossover::deviceplugin
