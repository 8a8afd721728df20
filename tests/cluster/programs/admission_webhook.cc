// Runs the extender's webhook alone, for tests. It differs from the shipped one only in how long the steps
// of a rotation settle.
//
//   admission_webhook SERVER CA TOKEN ADDRESS PORT FILE
//
// SERVER, CA and TOKEN are those of the API server. The webhook listens on ADDRESS and PORT, and keeps its
// certificate in FILE. It prints one line for each pod that is not of a dry run, which says what became of
// it.
#include <signal.h>

#include <cstdio>
#include <cstdlib>

#include "extender/admission/admission.h"

namespace admission = crossover::extender::admission;

namespace {

struct Printed : admission::Count {
  void Add(admission::Outcome outcome) override {
    std::printf("pod %s\n", admission::NameOf(outcome));
    std::fflush(stdout);
  }
  void Took(double) override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s SERVER CA TOKEN ADDRESS PORT FILE\n", argv[0]);
    return 2;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);

  admission::Admission::Settings settings;
  settings.access = {.server = argv[1], .ca_file = argv[2], .token_file = argv[3]};
  settings.listen.address = argv[4];
  settings.listen.port = std::atoi(argv[5]);
  settings.names = {.name_space = "crossover-system",
                    .secret = "crossover-admission",
                    .configuration = "crossover-admission"};
  settings.cert_rotator.file = argv[6];
  settings.cert_rotator.rotation = {.names = {"crossover-extender.crossover-system.svc",
                                              "crossover-extender.crossover-system.svc.cluster.local"},
                                    .bundle_settles_s = 3,
                                    .replicas_settle_s = 3};
  Printed printed;
  const admission::Admission running(
      std::move(settings), [] { return true; }, &printed);
  int ended = 0;
  sigwait(&ends, &ended);
  return 0;
}
