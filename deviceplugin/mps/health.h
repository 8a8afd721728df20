// Judges whether MPS takes new clients. Its control daemon may live while its server is in FAULT, hangs or
// cannot start: a new client then fails, or never returns from its first call. Pure; not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::deviceplugin {

// An MpsStatus is what a control daemon says of a server. kOther: words that are not known.
enum class MpsStatus : std::uint8_t { kActive, kInitializing, kFault, kOther };

// Returns the status in an answer to get_server_status: the first of its words that is one, in either case.
MpsStatus ReadMpsStatus(std::string_view answer);

// An MpsLook holds what one look at the servers of a control daemon showed.
struct MpsLook {
  // kUnknown: the control daemon could not be asked, or gave an answer that is not known.
  enum class List : std::uint8_t { kSilent, kUnknown, kGiven };
  struct Server {
    char state = 'S';                   // of its process, as /proc/PID/stat has it: R, S, D, T, t, Z, ..
    std::optional<MpsStatus> status{};  // nothing: the control daemon did not answer
  };
  List list = List::kSilent;
  std::vector<Server> servers{};  // if `list` is kGiven
};

// An MpsSymptom is what can be wrong.
enum class MpsSymptom : std::uint8_t {
  kFault,
  kStopped,
  kDaemonSilent,
  kServerSilent,
  kInitializing,
  kNone,      // there is no server, although one was asked for
  kInDriver,  // in one system call (D) at each look
  kNeverWell  // one symptom or another at each look
};

class MpsHealth {
 public:
  using Time = std::int64_t;  // ns of any clock

  // For how long each of these has to last until it counts. Each of them occurs for a moment on a sound
  // machine, as when the server of one user makes room for that of another. A server of many GPUs takes
  // longer to start than one of a few.
  static constexpr Time kSilent = 3'000'000'000;
  static constexpr Time kStopped = 2'000'000'000;
  static constexpr Time kNone = 10'000'000'000;  // since a server was asked for
  static constexpr Time kLong = 30'000'000'000;  // kInitializing, kInDriver and kNeverWell
  // A server is asked for at most this often, and half as often each time, down to the second of these.
  static constexpr Time kFirstWait = 5'000'000'000;
  static constexpr Time kLongestWait = 60'000'000'000;

  // Takes a look into account.
  void OnLook(const MpsLook& look, Time now);
  // Notes that a server was asked for, and whether the control daemon took the order. Only from an order that
  // it took does it count that there is no server: without clients a sound control daemon has none either.
  void OnServerAsked(bool taken, Time now);
  // Forgets all looks, because the control daemon is gone or is another one.
  void Forget() { *this = {}; }

  // Returns why MPS takes no new clients, or "" if it takes them or if that is not known.
  const std::string& fault() const { return fault_; }
  // Returns whether it was found out whether MPS takes new clients, or that it cannot be found out. While
  // this is false, a symptom was there at each look that does not count yet.
  bool known() const { return known_; }
  // Returns whether all was well at the last look. The caller looks more often while this is false.
  bool well() const { return since_.empty(); }
  // Returns whether a server is to be asked for now, because there is none, and only the attempt shows
  // whether one can start.
  bool wants_server() const { return wants_server_; }

 private:
  void Judge(Time now);

  std::string fault_;
  bool known_ = false;
  std::map<MpsSymptom, Time> since_;  // of the symptoms of the last look: the first look in a row with it
  std::optional<Time> server_asked_;  // since when a server was asked for and none came
  std::optional<Time> next_ask_;      // when a server may be asked for again
  Time wait_ = kFirstWait;
  bool wants_server_ = false;
};

}  // namespace crossover::deviceplugin
