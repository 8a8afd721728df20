// Does nothing until it is told to end, and reaps orphans. It is the first process of a pod's sandbox, and
// of each of the cluster's own namespaces.
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void End(int number) {
  (void)number;
  _exit(0);
}

static void Reap(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(void) {
  // Children that ended before the handler was installed would otherwise stay zombies.
  struct sigaction reap = {.sa_handler = Reap, .sa_flags = SA_NOCLDSTOP};
  sigaction(SIGCHLD, &reap, NULL);
  Reap(SIGCHLD);
  struct sigaction end = {.sa_handler = End};
  sigaction(SIGTERM, &end, NULL);
  sigaction(SIGINT, &end, NULL);
  for (;;) pause();
}
