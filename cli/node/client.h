// Asks the node daemon over its API's socket. Every call ends within seconds, but for watching.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace crossover::node::v1 {
class ListGpusResponse;
class ListJobsResponse;
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

// Each call returns what went wrong in one line, or nothing.
class NodeClient {
 public:
  explicit NodeClient(std::string socket_path);
  ~NodeClient();
  NodeClient(const NodeClient&) = delete;
  NodeClient& operator=(const NodeClient&) = delete;

  std::string ReadTop(node::v1::Top* top);  // ListGpus and ListJobs in one
  std::string ListGpus(node::v1::ListGpusResponse* response);
  std::string ListJobs(node::v1::ListJobsResponse* response);
  std::string ListTurns(const node::v1::ListTurnsRequest& request, node::v1::ListTurnsResponse* response);
  std::string ListProfiles(node::v1::ListProfilesResponse* response);
  std::string SetMode(const node::v1::SetModeRequest& request, node::v1::SetModeResponse* response);
  // Until `on_event` returns false (then without a complaint) or the daemon ends the stream.
  std::string WatchTurns(const std::string& gpu_uuid,
                         const std::function<bool(const node::v1::TurnEvent& event)>& on_event);

 private:
  struct Parts;
  std::string Complaint() const;

  std::string socket_path_;
  std::unique_ptr<Parts> parts_;
};

// Why nobody can connect to a stream socket, in a few words; empty where one can.
std::string WhyNotConnected(const std::string& socket_path);

}  // namespace crossover::cli
