#include "cli/node/client.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/base/fd.h"
#include "proto/crossover_node.grpc.pb.h"

namespace crossover::cli {
namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

struct NodeClient::Parts {
  std::unique_ptr<node::v1::Node::Stub> stub;

  template <class Call>
  grpc::Status Ask(const Call& call) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    return call(&context);
  }
};

std::string WhyNotConnected(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path))
    return "expected a path of 107 bytes at most, got a longer one";
  socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const base::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return "";
  switch (errno) {
    case EAGAIN:
      return "";
    case ENOENT:
      return "no such file: start the daemon, or look at api.socket in its configuration";
    case ECONNREFUSED:
      return "no process listens there: if this is the socket of a daemon, the daemon has ended: start it "
             "again";
    case EACCES:
    case EPERM:
      return "permission denied: run the command as root or as the daemon's own user";
    default:
      return std::strerror(errno);
  }
}

NodeClient::NodeClient(std::string socket_path)
    : socket_path_(std::move(socket_path)), parts_(std::make_unique<Parts>()) {
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function([](gpr_log_func_args*) {});
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  parts_->stub = node::v1::Node::NewStub(
      grpc::CreateCustomChannel("unix:" + socket_path_, grpc::InsecureChannelCredentials(), arguments));
}

NodeClient::~NodeClient() = default;

std::string NodeClient::Complaint() const {
  const std::string why = WhyNotConnected(socket_path_);
  return why.empty() ? "" : "--socket: " + socket_path_ + ": " + why;
}

namespace {

std::string Text(const grpc::Status& status) {
  if (status.ok()) return "";
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return "expected an answer of the daemon within " + std::to_string(kPatience.count()) + " s, got none";
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE)
    return "expected an answer of the daemon, got none: " + status.error_message();
  return "the daemon answers: " + status.error_message();
}

}  // namespace

std::string NodeClient::GetTop(node::v1::Top* top) {
  if (std::string complaint = Complaint(); !complaint.empty()) return complaint;
  return Text(parts_->Ask([&](auto* context) { return parts_->stub->GetTop(context, {}, top); }));
}

std::string NodeClient::ListTurns(const node::v1::ListTurnsRequest& request,
                                  node::v1::ListTurnsResponse* response) {
  if (std::string complaint = Complaint(); !complaint.empty()) return complaint;
  return Text(
      parts_->Ask([&](auto* context) { return parts_->stub->ListTurns(context, request, response); }));
}

std::string NodeClient::ListProfiles(node::v1::ListProfilesResponse* response) {
  if (std::string complaint = Complaint(); !complaint.empty()) return complaint;
  return Text(parts_->Ask([&](auto* context) { return parts_->stub->ListProfiles(context, {}, response); }));
}

std::string NodeClient::SetMode(const node::v1::SetModeRequest& request,
                                node::v1::SetModeResponse* response) {
  if (std::string complaint = Complaint(); !complaint.empty()) return complaint;
  return Text(parts_->Ask([&](auto* context) { return parts_->stub->SetMode(context, request, response); }));
}

std::string NodeClient::WatchTurns(const std::string& gpu_uuid,
                                   const std::function<bool(const node::v1::TurnEvent& event)>& on_event) {
  if (std::string complaint = Complaint(); !complaint.empty()) return complaint;
  grpc::ClientContext context;
  node::v1::WatchTurnsRequest request;
  request.set_gpu_uuid(gpu_uuid);
  const auto reader = parts_->stub->WatchTurns(&context, request);
  node::v1::TurnEvent event;
  bool wanted = true;
  while (wanted && reader->Read(&event)) wanted = on_event(event);
  if (!wanted) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (!wanted) return "";
  return status.ok() ? "the daemon stopped" : Text(status);
}

}  // namespace crossover::cli
