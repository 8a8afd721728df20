#include "simgpu/nccl/profiler.h"

#include <dlfcn.h>
#include <strings.h>

#include <cstdlib>
#include <string>

#include "simgpu/nccl/profiler_plugin.h"

namespace simgpu::nccl {

struct Plugin : ProfilerPlugin {};

namespace {

constexpr char kSymbol[] = "ncclProfiler_v4";
constexpr std::uint8_t kWarps = 16;

constexpr const char* kTypes[ncclNumTypes] = {
    "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",   "ncclInt64",      "ncclUint64",
    "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

void Discard(int, unsigned long, const char*, int, const char*, ...) {}

const Plugin* Load() {
  const char* name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name != nullptr && strcasecmp(name, "none") == 0) return nullptr;
  void* library = nullptr;
  if (name == nullptr || *name == '\0') {
    library = dlopen("libnccl-profiler.so", RTLD_NOW | RTLD_LOCAL);
  } else {
    library = dlopen(strcasecmp(name, "STATIC_PLUGIN") == 0 ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      library = dlopen(("libnccl-profiler-" + std::string(name) + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  return library == nullptr ? nullptr : static_cast<const Plugin*>(dlsym(library, kSymbol));
}

}  // namespace

std::unique_ptr<Profiler> Profiler::Open(std::uint64_t id, int nodes, int ranks, int rank) {
  static const Plugin* const plugin = Load();
  if (plugin == nullptr) return nullptr;
  std::unique_ptr<Profiler> profiler(new Profiler);
  const ncclResult_t result =
      plugin->init(&profiler->context_, &profiler->events_, nullptr, id, nodes, ranks, rank, &Discard);
  if (result != ncclSuccess) return nullptr;
  profiler->plugin_ = plugin;
  profiler->rank_ = rank;
  return profiler;
}

Profiler::~Profiler() {
  if (plugin_ != nullptr) plugin_->finalize(context_);
}

void Profiler::Launched(std::span<const PendingCall> calls, int ctas) {
  if (events_ == 0) return;
  void* group = nullptr;
  ProfilerDescription description{};
  description.event = kProfileGroup;
  description.rank = rank_;
  plugin_->start(context_, &group, &description);
  for (const PendingCall& pending : calls) Report(pending, ctas, group);
  plugin_->stop(group);
}

void Profiler::Report(const PendingCall& pending, int ctas, void* group) {
  const Call& call = pending.call;
  const bool transfer = IsPointToPoint(call.function);
  ProfilerDescription description{};
  description.event = transfer ? kProfileTransfer : kProfileCollective;
  description.parent = group;
  description.rank = rank_;
  const char* type = kTypes[static_cast<std::size_t>(call.type)];
  const auto channels = static_cast<std::uint8_t>(ctas);
  if (transfer) {
    void* buffer = call.function == Function::kSend ? const_cast<void*>(pending.send) : pending.recv;
    description.transfer = {Name(call.function), buffer, type, call.count, call.root, channels};
  } else {
    std::uint64_t& called = called_[static_cast<std::size_t>(call.function)];
    description.collective = {called++,     Name(call.function),
                              pending.send, pending.recv,
                              call.count,   call.root,
                              type,         channels,
                              kWarps,       "RING",
                              "LL"};
  }
  if ((events_ & description.event) == 0) return;
  void* event = nullptr;
  plugin_->start(context_, &event, &description);
  plugin_->stop(event);
}

}  // namespace simgpu::nccl
