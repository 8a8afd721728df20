// Asks the node daemon over its API socket. Every call ends within seconds, except WatchTurns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace crossover::node::v1 {
class ListProfilesResponse;
class ListTurnsRequest;
class ListTurnsResponse;
class SetModeRequest;
class SetModeResponse;
class Top;
class TurnEvent;
}  // namespace crossover::node::v1

namespace crossover::cli {

inline constexpr std::string_view kDefaultApiSocket = "/run/crossover/api.sock";

// A NodeClient makes the calls of the daemon's API. Each returns "", or one line that says what went wrong.
class NodeClient {
 public:
  explicit NodeClient(std::string socket_path);
  ~NodeClient();
  NodeClient(const NodeClient&) = delete;
  NodeClient& operator=(const NodeClient&) = delete;

  std::string GetTop(node::v1::Top* top);
  std::string ListTurns(const node::v1::ListTurnsRequest& request, node::v1::ListTurnsResponse* response);
  std::string ListProfiles(node::v1::ListProfilesResponse* response);
  std::string SetMode(const node::v1::SetModeRequest& request, node::v1::SetModeResponse* response);
  // Calls `on_event` with each event until it returns false or the daemon ends the stream. Returns "" in
  // the first case.
  std::string WatchTurns(const std::string& gpu_uuid,
                         const std::function<bool(const node::v1::TurnEvent& event)>& on_event);

 private:
  struct Parts;
  std::string Complaint() const;

  std::string socket_path_;
  std::unique_ptr<Parts> parts_;
};

// Returns in a few words why a client cannot connect to the stream socket, or "" if it can.
std::string WhyNotConnected(const std::string& socket_path);

}  // namespace crossover::cli
