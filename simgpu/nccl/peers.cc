#include "simgpu/nccl/peers.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/base/refusal.h"

namespace simgpu::nccl {

namespace {

constexpr std::uint64_t kMostThinning = 1024;

template <typename T>
bool SendWhole(int fd, const T& value) {
  return send(fd, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
}

UniqueFd ConnectTo(const std::string& path, std::string* error) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    *error = "SIMGPU_NCCL_PEERS: " + path + " is too long for a unix socket";
    return UniqueFd();
  }
  path.copy(address.sun_path, path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  *error = "SIMGPU_NCCL_PEERS: " + path + ": " + std::strerror(errno);
  return UniqueFd();
}

bool ReadThinning(std::uint64_t* thin, std::string* error) {
  const char* text = std::getenv("SIMGPU_NCCL_THIN");
  if (text == nullptr) return true;
  const std::string_view value(text);
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), *thin);
  if (status == std::errc() && end == value.data() + value.size() && *thin >= 1 && *thin <= kMostThinning)
    return true;
  *error = crossover::base::Refusal("SIMGPU_NCCL_THIN", "a whole number from 1 to 1024", value);
  return false;
}

}  // namespace

std::unique_ptr<Peers> Peers::Call(int ranks, int rank, const ncclUniqueId& id, std::string* error) {
  error->clear();
  const char* prefix = std::getenv("SIMGPU_NCCL_PEERS");
  if (prefix == nullptr || rank != 0 || ranks < 2) return nullptr;
  auto peers = std::make_unique<Peers>();
  if (!ReadThinning(&peers->thin_, error)) return nullptr;
  for (int peer = 1; peer < ranks; ++peer) {
    UniqueFd fd = ConnectTo(std::string(prefix) + "." + std::to_string(peer), error);
    if (!fd) return nullptr;
    if (!SendWhole(fd.get(), PeerHello{.ranks = ranks, .rank = peer, .id = id})) {
      *error = "SIMGPU_NCCL_PEERS: rank " + std::to_string(peer) + " hung up";
      return nullptr;
    }
    peers->sockets_.push_back(std::move(fd));
  }
  return peers;
}

// Only these calls can be thinned: zeros from the peers change nothing for rank 0, and rank 0 has the rest
// of the data itself.
simgpu::nccl::Call Peers::Thinned(const simgpu::nccl::Call& call) const {
  const bool sum = call.function == Function::kAllReduce && call.op == ncclSum;
  const bool own = call.function == Function::kBroadcast && call.root == 0;
  simgpu::nccl::Call thinned = call;
  if (sum || own) thinned.count = std::max<std::uint64_t>(call.count / thin_, 1);
  return thinned;
}

bool Peers::Say(const simgpu::nccl::Call& call) {
  return std::all_of(sockets_.begin(), sockets_.end(),
                     [&](const UniqueFd& fd) { return SendWhole(fd.get(), call); });
}

}  // namespace simgpu::nccl
