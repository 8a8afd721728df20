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

// An MpsStatus is the status of a server, as a control daemon reports it. kOther: it uses other words.
enum class MpsStatus : std::uint8_t { kActive, kInitializing, kFault, kOther };

// Returns the status in an answer to get_server_status: the first of its words that names one, in upper or
// lower case.
MpsStatus ReadMpsStatus(std::string_view answer);

// An MpsLook holds what one look at the servers of a control daemon showed.
struct MpsLook {
  // kSilent: the control daemon did not answer in time. kUnknown: it could not be asked, or its answer has
  // another form. kGiven: it gave a list.
  enum class List : std::uint8_t { kSilent, kUnknown, kGiven };
  struct Server {
    char state = 'S';                   // state of its process, as in /proc/PID/stat: R, S, D, T, t, Z, ...
    std::optional<MpsStatus> status{};  // unset: the control daemon did not answer
  };
  List list = List::kSilent;
  std::vector<Server> servers{};  // with kGiven
};

// An MpsSymptom is a sign that MPS may take no new clients.
enum class MpsSymptom : std::uint8_t {
  kFault,
  kStopped,
  kDaemonSilent,
  kServerSilent,
  kInitializing,
  kNone,      // there is no server; it counts only after one was asked for
  kInDriver,  // its process was in an uninterruptible system call (D) at each look
  kNeverWell  // each look found some symptom
};

// An MpsHealth judges the looks at one control daemon. The caller reports each look, and asks for a server
// when wants_server() says so.
class MpsHealth {
 public:
  using Time = std::int64_t;  // ns of any clock

  // A symptom counts only after it has lasted this long. Each of them occurs for a moment on a sound machine,
  // for example when the server of one user makes room for that of another. A server of many GPUs takes
  // longer to start than one of a few.
  static constexpr Time kSilent = 3'000'000'000;
  static constexpr Time kStopped = 2'000'000'000;
  static constexpr Time kNone = 10'000'000'000;  // since a server was asked for
  static constexpr Time kLong = 30'000'000'000;  // kInitializing, kInDriver and kNeverWell
  // Two requests for a server are at least kFirstWait apart. The distance doubles with each request, up to
  // kLongestWait.
  static constexpr Time kFirstWait = 5'000'000'000;
  static constexpr Time kLongestWait = 60'000'000'000;

  // Takes a look into account.
  void OnLook(const MpsLook& look, Time now);
  // Notes that the caller has asked for a server, and whether the control daemon accepted the request
  // (`taken`). The lack of a server counts only from an accepted request on: without clients, a sound control
  // daemon has none either.
  void OnServerAsked(bool taken, Time now);
  // Forgets all looks, because the control daemon is gone or is another one.
  void Forget() { *this = {}; }

  // Returns why MPS takes no new clients, or "" if it takes them or if that is not known.
  const std::string& fault() const { return fault_; }
  // Returns whether fault() is reliable: a look found no symptom, a symptom counts, or nothing can be found
  // out. While this is false, each look found a symptom that does not count yet.
  bool known() const { return known_; }
  // Returns whether all was well at the last look. The caller looks more often while this is false.
  bool well() const { return since_.empty(); }
  // Returns whether the caller should ask for a server now: there is none, and only the attempt shows whether
  // one can start.
  bool wants_server() const { return wants_server_; }

 private:
  void Judge(Time now);

  std::string fault_;
  bool known_ = false;
  std::map<MpsSymptom, Time>
      since_;  // by symptom of the last look: when the present row of looks with it began
  std::optional<Time> server_asked_;  // when the first request was accepted to which no server came
  std::optional<Time> next_ask_;      // the earliest time of the next request
  Time wait_ = kFirstWait;
  bool wants_server_ = false;
};

}  // namespace crossover::deviceplugin
