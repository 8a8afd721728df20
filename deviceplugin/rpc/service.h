// Implements the calls of the API. Only server.cc and service.cc include this header, because gRPC's headers
// are large.
#pragma once

#include <ctime>

#include "deviceplugin/rpc/server.h"
#include "proto/crossover_node.grpc.pb.h"

namespace crossover::deviceplugin {

class NodeService final : public node::v1::Node::Service {
 public:
  explicit NodeService(ApiServer::Backend backend);

  grpc::Status GetTop(grpc::ServerContext* context, const node::v1::GetTopRequest* request,
                      node::v1::Top* response) override;
  grpc::Status ListTurns(grpc::ServerContext* context, const node::v1::ListTurnsRequest* request,
                         node::v1::ListTurnsResponse* response) override;
  grpc::Status SetMode(grpc::ServerContext* context, const node::v1::SetModeRequest* request,
                       node::v1::SetModeResponse* response) override;
  grpc::Status ListProfiles(grpc::ServerContext* context, const node::v1::ListProfilesRequest* request,
                            node::v1::ListProfilesResponse* response) override;
  // Streams events to one watcher. Each watcher occupies a thread of gRPC for as long as it watches. A
  // watcher that does not read blocks that thread and nothing else.
  grpc::Status WatchTurns(grpc::ServerContext* context, const node::v1::WatchTurnsRequest* request,
                          grpc::ServerWriter<node::v1::TurnEvent>* writer) override;

 private:
  void FillDaemon(const ModeSwitch::State& mode, node::v1::Daemon* daemon) const;

  const ApiServer::Backend backend_;
  const turn::Time started_;
};

}  // namespace crossover::deviceplugin
