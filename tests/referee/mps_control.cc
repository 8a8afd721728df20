// Says what the node daemon sees of a control daemon of MPS: `referee_mps_control PIPE_DIRECTORY PROGRAM`
// prints one line for each line of its standard input.
//
//     look           whether the control daemon is alive, whether it serves all users, and its protocol
//     servers        the number of its servers, and the first line of its answer that is no process ID
//     status SERVER  what it says of a server, as the node daemon reads it
#include <iostream>
#include <sstream>
#include <string>

#include "deviceplugin/mps/control.h"
#include "deviceplugin/mps/health.h"

namespace {

using crossover::deviceplugin::MpsControl;
using crossover::deviceplugin::MpsStatus;

const char* NameOf(MpsStatus status) {
  switch (status) {
    case MpsStatus::kActive:
      return "active";
    case MpsStatus::kInitializing:
      return "initializing";
    case MpsStatus::kFault:
      return "fault";
    case MpsStatus::kOther:
      break;
  }
  return "other";
}

std::string Answer(const MpsControl& control, const std::string& line) {
  std::istringstream words(line);
  std::string what;
  pid_t server = 0;
  words >> what >> server;
  if (what == "look") {
    const auto state = control.Look();
    if (!state.alive) return "none";
    return std::string(state.options.multi_user ? "all users" : "one user") + ", protocol " +
           std::to_string(state.options.protocol);
  }
  if (what == "servers") {
    const auto list = control.Servers();
    return list.answer.given() ? std::to_string(list.servers.size()) + " " + list.odd : "no answer";
  }
  if (what == "status") {
    const auto status = control.Status(server);
    if (status.unrecognized()) return "no such command";
    return status.given() ? NameOf(crossover::deviceplugin::ReadMpsStatus(status.text)) : "no answer";
  }
  return "unknown question: expected look, servers or status";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: referee_mps_control PIPE_DIRECTORY PROGRAM < questions\n";
    return 2;
  }
  const MpsControl control({.pipe_directory = argv[1], .program = argv[2]});
  for (std::string line; std::getline(std::cin, line);) std::cout << Answer(control, line) << std::endl;
  return 0;
}
