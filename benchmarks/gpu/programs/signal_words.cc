#include "benchmarks/gpu/programs/signal_words.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/gpu/programs/kernels.h"
#include "common/base/descriptors.h"
#include "deviceplugin/signaller/driver.h"
#include "sidecar/ipc/import.h"

namespace crossover::bench {
namespace {

[[noreturn]] void Make(const char* no_mps, int socket, const Serve& serve) {
  signaller::Driver driver;
  std::string error;
  std::vector<std::string> gpus;
  CUdevice device = 0;
  const bool open = signaller::LoadDriver(&driver, &error) &&
                    signaller::ReadUuids(driver, no_mps, &gpus, &error) && !gpus.empty() &&
                    signaller::OpenGpu(driver, no_mps, gpus[0], &device, &error);
  Require(open, "a context outside MPS", error.c_str());
  const std::shared_ptr<signaller::SignalMemory> memory =
      signaller::SignalMemory::Make(driver, device, &error);
  Require(memory != nullptr, "signal memory", error.c_str());
  const std::size_t bytes = memory->bytes();
  const int fd = memory->fd();
  base::SendWithDescriptors(socket, &bytes, sizeof bytes, std::span(&fd, 1), MSG_NOSIGNAL);
  serve(memory, socket);
  std::exit(0);
}

}  // namespace

Maker StartMaker(const char* no_mps, const Serve& serve) {
  Maker maker;
  int ends[2];
  Require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "socketpair", "it fails");
  maker.pid = ForkTied();
  if (maker.pid == 0) {
    ::close(ends[0]);
    Make(no_mps, ends[1], serve);
  }
  ::close(ends[1]);
  maker.socket = ends[0];
  const auto arrival = base::ReceiveWithDescriptors(maker.socket, &maker.bytes, sizeof maker.bytes, 0,
                                                    [&maker](int fd) { maker.memory = fd; });
  Require(arrival.size == sizeof maker.bytes && maker.memory >= 0, "signal memory", "no process has made it");
  return maker;
}

bool Closed(int socket) {
  pollfd end{socket, POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

void Require(bool good, const char* what, const char* error) {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", what, error);
  std::exit(1);
}

const gates::Driver& GateDriver() {
  static const gates::Driver driver = [] {
    gates::Driver loaded;
    Require(gates::LoadDriver(&loaded,
                              [](const char* symbol) {
                                static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
                                return library == nullptr ? nullptr : dlsym(library, symbol);
                              }),
            "libcuda.so.1", "it lacks what gates need");
    return loaded;
  }();
  return driver;
}

CUdeviceptr ImportLines(const Maker& maker) {
  Require(ipc::CanImport(GateDriver()), "signal memory", "the driver cannot import it");
  ipc::Mapping mapping;
  const ipc::Refusal refusal = ipc::Import(GateDriver(), maker.memory, maker.bytes, &mapping);
  std::array<char, 256> text{};
  if (refusal) ipc::Describe(refusal, text.data(), text.size());
  Require(!refusal, "signal memory", text.data());
  return mapping.LinesOf(kArea);
}

}  // namespace crossover::bench
