// Stands for another vendor's device plugin. It registers a resource with a kubelet and lists its devices
// until it is killed.
//
//     other_plugin DIRECTORY RESOURCE ID...
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "proto/kubelet/deviceplugin.grpc.pb.h"

namespace {

constexpr char kSocket[] = "other.sock";

class Service final : public v1beta1::DevicePlugin::Service {
 public:
  explicit Service(std::vector<std::string> ids) : ids_(std::move(ids)) {}

  grpc::Status GetDevicePluginOptions(grpc::ServerContext*, const v1beta1::Empty*,
                                      v1beta1::DevicePluginOptions*) override {
    return grpc::Status::OK;
  }
  grpc::Status ListAndWatch(grpc::ServerContext* context, const v1beta1::Empty*,
                            grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) override {
    v1beta1::ListAndWatchResponse response;
    for (const std::string& id : ids_) {
      v1beta1::Device* device = response.add_devices();
      device->set_id(id);
      device->set_health("Healthy");
    }
    writer->Write(response);
    while (!context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return grpc::Status::OK;
  }
  grpc::Status Allocate(grpc::ServerContext*, const v1beta1::AllocateRequest* request,
                        v1beta1::AllocateResponse* response) override {
    for (int i = 0; i < request->container_requests_size(); ++i) response->add_container_responses();
    return grpc::Status::OK;
  }

 private:
  const std::vector<std::string> ids_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string directory = argv[1];
  Service service({argv + 3, argv + argc});
  unlink((directory + "/" + kSocket).c_str());
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix://" + directory + "/" + kSocket, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  const auto kubelet = v1beta1::Registration::NewStub(grpc::CreateCustomChannel(
      "unix://" + directory + "/kubelet.sock", grpc::InsecureChannelCredentials(), arguments));
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(kSocket);
  request.set_resource_name(argv[2]);
  grpc::ClientContext context;
  v1beta1::Empty response;
  const grpc::Status status = kubelet->Register(&context, request, &response);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.error_message().c_str());
    return 1;
  }
  server->Wait();
}
