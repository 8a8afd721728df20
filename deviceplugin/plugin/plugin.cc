#include "deviceplugin/plugin/plugin.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/logging/log.h"
#include "deviceplugin/plugin/directory_watch.h"
#include "deviceplugin/plugin/service.h"

namespace crossover::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr char kVersion[] = "v1beta1";
constexpr char kKubeletSocket[] = "kubelet.sock";
constexpr char kOwnSocket[] = "crossover.sock";
constexpr std::chrono::seconds kRegisterWithin{10};  // limit of the call; the kubelet connects back meanwhile
constexpr std::chrono::seconds kStreamWithin{10};    // time to open a stream, after the answer
constexpr milliseconds kDrain{500};                  // time for open calls to end at a shutdown
constexpr milliseconds kLook{200};
// The end of an old stream must reach the kubelet before the next registration does.
constexpr milliseconds kShortestPause{200};
constexpr milliseconds kLongestPause{30'000};
constexpr int kMostThreads = 16;

}  // namespace

milliseconds NextPause(milliseconds pause, bool registered) {
  return registered ? kShortestPause : std::min(2 * pause, kLongestPause);
}

Plugin::Plugin(Settings settings, SlotService* service)
    : settings_(std::move(settings)),
      service_(service),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Run(); }) {}

Plugin::~Plugin() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Plugin::Status Plugin::status() const {
  const std::lock_guard lock(mutex_);
  Status status = status_;
  status.registered = status.registered && service_->streams() > 0;
  return status;
}

std::string Plugin::KubeletSocket() const { return settings_.directory + "/" + kKubeletSocket; }
std::string Plugin::OwnSocket() const { return settings_.directory + "/" + kOwnSocket; }

void Plugin::Run() {
  prctl(PR_SET_NAME, "xo-kubelet");
  milliseconds pause = kShortestPause;
  bool said = false;
  for (;;) {
    DirectoryWatch watch;
    std::string error;
    const bool open = watch.Open(settings_.directory, &error);
    if (!open) NoteFailure(error);
    if (open && watch.fd() < 0 && !std::exchange(said, true)) {
      logging::Warn(error +
                    "; the daemon looks at the folder five times a second instead: raise the limits "
                    "(fs.inotify.max_user_instances, fs.inotify.max_user_watches)");
    }
    const std::uint64_t before = status().registrations;
    if (open && ServeOnce(&watch) == Next::kStop) return;
    pause = NextPause(pause, status().registrations != before);
    if (Pause(&watch, pause) == Next::kStop) return;
  }
}

// Creates our socket, registers, and serves until the connection to the kubelet is lost. Returns kStop if the
// thread must end.
Plugin::Next Plugin::ServeOnce(DirectoryWatch* watch) {
  std::string error;
  const std::unique_ptr<grpc::Server> server = Listen();
  if (server == nullptr) {
    NoteFailure("the daemon cannot listen on " + OwnSocket());
    return Next::kAgain;
  }
  watch->Take();  // drops the changes that Listen() has made
  Next next = Next::kAgain;
  if (Register(&error)) {
    {
      const std::lock_guard lock(mutex_);
      status_.registered = true;
      ++status_.registrations;
      status_.error.clear();
    }
    logging::Info("registered " + settings_.resource + " with the kubelet");
    next = AwaitLoss(watch);
  } else {
    NoteFailure(error);
  }
  {
    const std::lock_guard lock(mutex_);
    status_.registered = false;
  }
  service_->Stop();
  server->Shutdown(std::chrono::system_clock::now() + kDrain);
  server->Wait();
  unlink(OwnSocket().c_str());
  return next;
}

std::unique_ptr<grpc::Server> Plugin::Listen() {
  unlink(OwnSocket().c_str());
  service_->Start();
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("kubelet");
  quota.SetMaxThreads(kMostThreads);
  builder.SetResourceQuota(quota);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
  builder.AddListeningPort("unix://" + OwnSocket(), grpc::InsecureServerCredentials());
  builder.RegisterService(service_);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server != nullptr) chmod(OwnSocket().c_str(), 0600);
  return server;
}

bool Plugin::Register(std::string* error) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  // Without a pool of its own, a failed connection delays the next one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel =
      grpc::CreateCustomChannel("unix://" + KubeletSocket(), grpc::InsecureChannelCredentials(), arguments);
  const auto kubelet = v1beta1::Registration::NewStub(channel);
  v1beta1::RegisterRequest request;
  request.set_version(kVersion);
  request.set_endpoint(kOwnSocket);
  request.set_resource_name(settings_.resource);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRegisterWithin);
  v1beta1::Empty response;
  const grpc::Status status = kubelet->Register(&context, request, &response);
  if (!status.ok()) *error = "registering with " + KubeletSocket() + ": " + status.error_message();
  return status.ok();
}

Plugin::Next Plugin::AwaitLoss(DirectoryWatch* watch) {
  const auto registered = std::chrono::steady_clock::now();
  const std::uint64_t streams_before = service_->streams_begun();
  for (;;) {
    std::array<pollfd, 2> fds = {{{stop_.get(), POLLIN, 0}, {watch->fd(), POLLIN, 0}}};
    poll(fds.data(), fds.size(), static_cast<int>(kLook.count()));
    if (fds[0].revents != 0) return Next::kStop;
    for (const DirectoryWatch::Change& change : watch->Take()) {
      const bool kubelet_came =
          change.kind == DirectoryWatch::Change::Kind::kCame && change.name == kKubeletSocket;
      const bool ours_left = change.kind == DirectoryWatch::Change::Kind::kLeft && change.name == kOwnSocket;
      const bool gone = change.kind == DirectoryWatch::Change::Kind::kDirectoryGone;
      const bool lost = change.kind == DirectoryWatch::Change::Kind::kLost;
      if (!kubelet_came && !ours_left && !gone && !lost) continue;
      logging::Info(kubelet_came ? "the kubelet has restarted: registering again"
                    : lost       ? "changes of " + settings_.directory + " were lost: registering again"
                                 : "our socket was removed: registering again");
      return Next::kAgain;
    }
    if (service_->streams() > 0) continue;
    const bool had_one = service_->streams_begun() != streams_before;
    if (had_one || std::chrono::steady_clock::now() - registered > kStreamWithin) {
      logging::Info("the kubelet does not listen: registering again");
      return Next::kAgain;
    }
  }
}

Plugin::Next Plugin::Pause(DirectoryWatch* watch, milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  bool kubelet_came = false;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Next::kAgain;
    std::array<pollfd, 2> fds = {{{stop_.get(), POLLIN, 0}, {kubelet_came ? -1 : watch->fd(), POLLIN, 0}}};
    const milliseconds longest = kubelet_came ? kShortestPause : watch->fd() < 0 ? kLook : left;
    poll(fds.data(), fds.size(), static_cast<int>(std::min(left, longest).count()));
    if (fds[0].revents != 0) return Next::kStop;
    if (kubelet_came) return Next::kAgain;
    for (const DirectoryWatch::Change& change : watch->Take()) {
      // The kubelet's socket exists but the kubelet may not listen yet, so wait a moment longer.
      kubelet_came |= change.kind == DirectoryWatch::Change::Kind::kCame && change.name == kKubeletSocket;
      kubelet_came |= change.kind == DirectoryWatch::Change::Kind::kLost;  // the kubelet may have come
      if (change.kind == DirectoryWatch::Change::Kind::kDirectoryGone) return Next::kAgain;
    }
  }
}

void Plugin::NoteFailure(const std::string& error) {
  const std::lock_guard lock(mutex_);
  ++status_.failures;
  if (status_.error == error) return;  // logged once, not at each try
  status_.error = error;
  logging::Warn(error);
}

}  // namespace crossover::deviceplugin
