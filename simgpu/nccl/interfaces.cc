// Chooses the address of this machine that other ranks are told.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "simgpu/nccl/socket.h"

namespace simgpu::nccl {

namespace {

// A Filter is NCCL_SOCKET_IFNAME. If it is not set or empty, it allows every interface.
class Filter {
 public:
  Filter() {
    const char* value = std::getenv("NCCL_SOCKET_IFNAME");
    text_ = value == nullptr ? "" : value;
    while (!text_.empty() && (text_.front() == '^' || text_.front() == '=')) {
      (text_.front() == '^' ? exclude_ : exact_) = true;
      text_.remove_prefix(1);
    }
  }

  bool given() const { return !text_.empty() && !exclude_; }

  bool Allows(std::string_view name) const {
    if (text_.empty()) return true;
    std::string_view rest = text_;
    bool named = false;
    while (!rest.empty() && !named) {
      const auto comma = rest.find(',');
      const std::string_view entry = rest.substr(0, comma);
      named = exact_ ? name == entry : !entry.empty() && name.substr(0, entry.size()) == entry;
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return named != exclude_;
  }

 private:
  std::string_view text_;
  bool exclude_ = false;
  bool exact_ = false;
};

// Returns how good an address is; 0 means that it cannot be used.
int Rank(const ifaddrs& entry, const Filter& filter) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0 || !filter.Allows(entry.ifa_name))
    return 0;
  const bool loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  const int distance = loopback && !filter.given() ? 1 : 3;
  if (entry.ifa_addr->sa_family == AF_INET) return distance + 1;
  if (entry.ifa_addr->sa_family != AF_INET6) return 0;
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr);
  return IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) ? 0 : distance;
}

Endpoint ToEndpoint(const sockaddr& address) {
  Endpoint endpoint;
  if (address.sa_family == AF_INET) {
    endpoint.family = 4;
    std::memcpy(endpoint.address, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  } else {
    endpoint.family = 6;
    std::memcpy(endpoint.address, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  }
  return endpoint;
}

}  // namespace

std::optional<Endpoint> ChooseAddress(std::string* error) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    *error = std::string("getifaddrs: ") + std::strerror(errno);
    return std::nullopt;
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  const Filter filter;
  int best = 0;
  std::optional<Endpoint> chosen;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const int rank = Rank(*entry, filter);
    if (rank <= best) continue;
    best = rank;
    chosen = ToEndpoint(*entry->ifa_addr);
  }
  if (!chosen) {
    const char* value = std::getenv("NCCL_SOCKET_IFNAME");
    *error = value == nullptr
                 ? "no network interface is up that has an address"
                 : std::string("no network interface is up that NCCL_SOCKET_IFNAME=") + value + " allows";
  }
  return chosen;
}

}  // namespace simgpu::nccl
