// Stands in for shrink/library/the_agreement.cc in a library that only tests preload. What goes wrong in a
// vote comes from the environment, and so do its limits:
//
//   SHRINK_TEST_AT=MOMENT:ACTION     at each such moment: kill (the process), stop (it), cut (the connection)
//   SHRINK_TEST_LIMITS=C,G,V,L       milliseconds: collector, greeting, verdict, linger
//   SHRINK_TEST_BUILD=N              the number of the file
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shrink/library/policies.h"

namespace crossover::shrink::library {
namespace {

using meeting::Moment;

struct MomentName {
  const char* name;
  Moment moment;
};
constexpr MomentName kMoments[] = {
    {"listens", Moment::kListens},  {"gathers", Moment::kGathers},     {"greets", Moment::kGreets},
    {"heard", Moment::kHeard},      {"decided", Moment::kDecided},     {"told_one", Moment::kToldOne},
    {"told_all", Moment::kToldAll}, {"connects", Moment::kConnects},   {"connected", Moment::kConnected},
    {"greeted", Moment::kGreeted},  {"said_hello", Moment::kSaidHello}};

void At(void*, Moment moment, int socket) {
  const char* wanted = ::getenv("SHRINK_TEST_AT");
  const char* colon = wanted == nullptr ? nullptr : strchr(wanted, ':');
  if (colon == nullptr) return;
  const auto length = static_cast<std::size_t>(colon - wanted);
  for (const MomentName& row : kMoments) {
    if (row.moment != moment || strlen(row.name) != length || strncmp(row.name, wanted, length) != 0)
      continue;
    if (strcmp(colon, ":kill") == 0) ::raise(SIGKILL);
    if (strcmp(colon, ":stop") == 0) ::raise(SIGSTOP);
    if (strcmp(colon, ":cut") == 0) ::shutdown(socket, SHUT_RDWR);
  }
}

meeting::Limits LimitsOfTest() {
  meeting::Limits limits;
  const char* text = ::getenv("SHRINK_TEST_LIMITS");
  if (text != nullptr)
    sscanf(text, "%u,%u,%u,%u", &limits.collector_ms, &limits.greeting_ms, &limits.verdict_ms,
           &limits.linger_ms);
  return limits;
}

std::uint64_t BuildOfTest() {
  const char* text = ::getenv("SHRINK_TEST_BUILD");
  return text == nullptr ? 1 : strtoull(text, nullptr, 10);
}

}  // namespace

Agreement& TheAgreement() {
  static auto* agreement = new Agreement(LimitsOfTest(), {&At, nullptr}, &BuildOfTest);
  return *agreement;
}

}  // namespace crossover::shrink::library
