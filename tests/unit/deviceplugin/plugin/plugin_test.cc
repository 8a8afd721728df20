#include "deviceplugin/plugin/plugin.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "deviceplugin/plugin/service.h"
#include "tests/unit/deviceplugin/plugin/no_inotify.h"

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kA[] = "GPU-00000000-0000-0000-0000-00000000000a";
constexpr char kB[] = "GPU-00000000-0000-0000-0000-00000000000b";
constexpr char kResource[] = "crossover.dev/slot";

// A Kubelet does what a plugin sees of a kubelet: it dials back inside Register, asks for the options, and
// then listens to the list of devices on a stream of its own.
class Kubelet final : public v1beta1::Registration::Service {
 public:
  explicit Kubelet(std::string directory) : directory_(std::move(directory)) {
    unlink(Socket().c_str());
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix://" + Socket(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Kubelet() override {
    EndStream();
    server_->Shutdown(std::chrono::system_clock::now());
    if (stream_.joinable()) stream_.join();
    unlink(Socket().c_str());
  }

  grpc::Status Register(grpc::ServerContext* /*context*/, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*response*/) override {
    EXPECT_EQ(request->version(), "v1beta1");
    EXPECT_EQ(request->resource_name(), kResource);
    EXPECT_EQ(request->endpoint().find('/'), std::string::npos);
    const auto channel = grpc::CreateChannel("unix://" + directory_ + "/" + request->endpoint(),
                                             grpc::InsecureChannelCredentials());
    auto plugin = v1beta1::DevicePlugin::NewStub(channel);
    grpc::ClientContext context;
    v1beta1::DevicePluginOptions options;
    const grpc::Status status = plugin->GetDevicePluginOptions(&context, v1beta1::Empty(), &options);
    if (!status.ok()) return status;
    EXPECT_TRUE(options.get_preferred_allocation_available());
    EndStream();
    if (stream_.joinable()) stream_.join();
    const std::lock_guard lock(mutex_);
    plugin_ = std::move(plugin);
    ++registrations_;
    stream_ = std::thread([this] { Listen(); });
    return grpc::Status::OK;
  }

  // Waits until the list that was sent last is `wanted`. An ID with a minus before it is not healthy.
  void AwaitList(const std::vector<std::string>& wanted) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return list_ == wanted; }))
        << testing::PrintToString(list_);
  }
  void AwaitRegistrations(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return registrations_ >= count; }));
  }
  void EndStream() {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }
  v1beta1::DevicePlugin::Stub& plugin() { return *plugin_; }

 private:
  std::string Socket() const { return directory_ + "/kubelet.sock"; }

  void Listen() {
    grpc::ClientContext context;
    {
      const std::lock_guard lock(mutex_);
      context_ = &context;
      changed_.notify_all();
    }
    const auto reader = plugin_->ListAndWatch(&context, v1beta1::Empty());
    v1beta1::ListAndWatchResponse response;
    while (reader->Read(&response)) {
      const std::lock_guard lock(mutex_);
      list_.clear();
      for (const auto& device : response.devices()) {
        std::string& entry = list_.emplace_back((device.health() == "Healthy" ? "" : "-") + device.id());
        for (const auto& node : device.topology().nodes()) entry += " numa " + std::to_string(node.id());
      }
      changed_.notify_all();
    }
    reader->Finish();
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    list_.clear();
  }

  const std::string directory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<v1beta1::DevicePlugin::Stub> plugin_;
  std::vector<std::string> list_;
  int registrations_ = 0;
  grpc::ClientContext* context_ = nullptr;
  std::thread stream_;
  std::unique_ptr<grpc::Server> server_;
};

class PluginTest : public ::testing::Test {
 protected:
  PluginTest() {
    char name[] = "/tmp/crossover-plugin-XXXXXX";
    directory_ = mkdtemp(name);
    devices_.Set({{kA, {.gpu = {}, .slots = 2, .healthy = true}}});
  }
  ~PluginTest() override {
    plugin_.reset();
    std::filesystem::remove_all(directory_);
  }
  void Start() { plugin_ = std::make_unique<Plugin>(Plugin::Settings{directory_, kResource}, &service_); }
  // Waits until the plugin knows that it is registered. The kubelet listens before its answer to the
  // registration arrives.
  void AwaitRegistered() const {
    while (!plugin_->status().registered) std::this_thread::yield();
  }
  static std::string Slot(const char* gpu, int slot) {
    return std::string(gpu) + "::" + std::to_string(slot);
  }
  std::vector<std::string> Both() const { return {Slot(kA, 0), Slot(kA, 1)}; }

  std::string directory_;
  DeviceList devices_;
  std::vector<std::string> assigned_;
  SlotService service_{&devices_, AllocationSettings(), [this](std::size_t) { return assigned_; }};
  std::unique_ptr<Plugin> plugin_;
};

TEST_F(PluginTest, AdvertisesSlotsAndEveryChangeOfThem) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitList(Both());
  devices_.Set(
      {{kA, {.gpu = {}, .slots = 2, .healthy = false}}, {kB, {.gpu = {}, .slots = 1, .healthy = true}}});
  kubelet.AwaitList({"-" + Slot(kA, 0), "-" + Slot(kA, 1), Slot(kB, 0)});
  AwaitRegistered();
}

TEST_F(PluginTest, WaitsForAKubeletThatIsNotThereYet) {
  Start();
  while (plugin_->status().failures == 0) std::this_thread::yield();
  EXPECT_THAT(plugin_->status().error, testing::HasSubstr("registering with " + directory_));
  Kubelet kubelet(directory_);
  kubelet.AwaitList(Both());
  AwaitRegistered();
  EXPECT_THAT(plugin_->status().error, IsEmpty());
}

TEST_F(PluginTest, RegistersWithTheKubeletThatCameInItsPlace) {
  {
    Kubelet first(directory_);
    Start();
    first.AwaitList(Both());
  }
  // A kubelet empties the directory when it starts.
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    std::filesystem::remove(entry.path());
  Kubelet second(directory_);
  second.AwaitList(Both());
}

TEST_F(PluginTest, RegistersAgainWhenItsSocketIsRemoved) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitList(Both());
  unlink((directory_ + "/crossover.sock").c_str());
  kubelet.AwaitRegistrations(2);
  kubelet.AwaitList(Both());
}

TEST_F(PluginTest, RegistersAgainWhenTheStreamEnds) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitList(Both());
  kubelet.EndStream();
  kubelet.AwaitRegistrations(2);
  kubelet.AwaitList(Both());
}

TEST_F(PluginTest, WithoutInotifyItLooksForTheKubeletAndItsSocket) {
  const NoInotify shortage;
  Start();
  while (plugin_->status().failures == 0) std::this_thread::yield();
  Kubelet kubelet(directory_);
  kubelet.AwaitList(Both());
  AwaitRegistered();
  unlink((directory_ + "/crossover.sock").c_str());
  kubelet.AwaitRegistrations(2);
  kubelet.AwaitList(Both());
}

TEST_F(PluginTest, AnswersWithTheAssignedGpus) {
  devices_.Set(
      {{kA, {.gpu = {}, .slots = 2, .healthy = true}}, {kB, {.gpu = {}, .slots = 2, .healthy = true}}});
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitRegistrations(1);
  assigned_ = {kB};
  v1beta1::PreferredAllocationRequest request;
  auto* container = request.add_container_requests();
  for (const char* gpu : {kA, kB}) {
    for (int slot : {0, 1}) container->add_available_deviceids(Slot(gpu, slot));
  }
  container->set_allocation_size(1);
  grpc::ClientContext context;
  v1beta1::PreferredAllocationResponse response;
  ASSERT_TRUE(kubelet.plugin().GetPreferredAllocation(&context, request, &response).ok());
  ASSERT_THAT(response.container_responses(), SizeIs(1));
  EXPECT_THAT(response.container_responses(0).deviceids(), ElementsAre(Slot(kB, 0)));
}

TEST_F(PluginTest, NonsenseInARequestForAPreferenceIsNoError) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitRegistrations(1);
  v1beta1::PreferredAllocationRequest request;
  request.add_container_requests()->set_allocation_size(-3);
  request.add_container_requests()->add_available_deviceids("nonsense");
  request.mutable_container_requests(1)->set_allocation_size(1);
  grpc::ClientContext context;
  v1beta1::PreferredAllocationResponse response;
  ASSERT_TRUE(kubelet.plugin().GetPreferredAllocation(&context, request, &response).ok());
  ASSERT_THAT(response.container_responses(), SizeIs(2));
  for (const auto& answer : response.container_responses()) EXPECT_THAT(answer.deviceids(), IsEmpty());
}

TEST_F(PluginTest, AllocatesByTheIds) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitRegistrations(1);
  v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids(Slot(kA, 1));
  v1beta1::AllocateResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(kubelet.plugin().Allocate(&context, request, &response).ok());
  }
  ASSERT_THAT(response.container_responses(), SizeIs(1));
  EXPECT_THAT(response.container_responses(0).mounts(), SizeIs(3));
  EXPECT_EQ(response.container_responses(0).cdi_devices(0).name(), std::string("nvidia.com/gpu=") + kA);
  request.mutable_container_requests(0)->add_devices_ids(Slot(kA, 0));
  grpc::ClientContext context;
  const grpc::Status status = kubelet.plugin().Allocate(&context, request, &response);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("two slots of GPU"));
}

TEST_F(PluginTest, ToldIsTheNumaNodeOfAGpuThatHasOne) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitList(Both());
  devices_.Set({{kA, {.gpu = {}, .slots = 1, .numa = 1}}, {kB, {.gpu = {}, .slots = 1, .numa = 0}}});
  kubelet.AwaitList({Slot(kA, 0) + " numa 1", Slot(kB, 0) + " numa 0"});
}

TEST_F(PluginTest, NamesTheDeviceFilesThatTheNodeHasBesideTheVariable) {
  std::filesystem::create_directory(directory_ + "/dev");
  std::ofstream(directory_ + "/dev/nvidia0") << "";
  devices_.Set({{kA, {.gpu = {.device_files = {"/dev/nvidia0", "/dev/nvidia-uvm"}}, .slots = 1}}});
  AllocationSettings settings;
  settings.devices = DeviceStrategy::kEnvironment;
  SlotService service(&devices_, settings, nullptr, directory_);
  v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids(Slot(kA, 0));
  v1beta1::AllocateResponse response;
  ASSERT_TRUE(service.Allocate(nullptr, &request, &response).ok());
  ASSERT_THAT(response.container_responses(0).devices(), SizeIs(1));
  const v1beta1::DeviceSpec& file = response.container_responses(0).devices(0);
  EXPECT_EQ(file.host_path(), "/dev/nvidia0");
  EXPECT_EQ(file.container_path(), "/dev/nvidia0");
  EXPECT_EQ(file.permissions(), "rw");
  // With device-nodes nothing else brings a file that is missing, so the runtime has to refuse the container.
  settings.devices = DeviceStrategy::kDeviceNodes;
  service.Set(settings);
  v1beta1::AllocateResponse whole;
  ASSERT_TRUE(service.Allocate(nullptr, &request, &whole).ok());
  EXPECT_THAT(whole.container_responses(0).devices(), SizeIs(2));
}

// Any process that may connect to the socket can ask what a container gets.
TEST_F(PluginTest, ItsSocketIsOfItsUserAlone) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitRegistrations(1);
  struct stat found = {};
  ASSERT_EQ(stat((directory_ + "/crossover.sock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST(NextPauseTest, IsTwiceAsLongEachTimeUpToABoundUntilItIsRegistered) {
  using std::chrono::milliseconds;
  milliseconds pause{200};
  for (const int expected : {400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}) {
    pause = NextPause(pause, false);
    EXPECT_EQ(pause.count(), expected);
  }
  EXPECT_EQ(NextPause(pause, true).count(), 200);
}

TEST_F(PluginTest, LeavesNoSocketBehind) {
  Kubelet kubelet(directory_);
  Start();
  kubelet.AwaitRegistrations(1);
  plugin_.reset();
  EXPECT_NE(access((directory_ + "/crossover.sock").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace crossover::deviceplugin
