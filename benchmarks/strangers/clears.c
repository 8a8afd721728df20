/* Starts COMMAND with nothing of its environment but what the software GPU needs, as programs do that run
 * with the rights of others: `stranger_clears COMMAND...`. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static const char* const kKept[] = {"SIMGPU_CONFIG", "SIMGPU_NODE", "LD_LIBRARY_PATH"};
  enum { kCount = sizeof kKept / sizeof *kKept };
  char* values[kCount];
  if (argc < 2) {
    fprintf(stderr, "usage: stranger_clears COMMAND...\n");
    return 2;
  }
  for (int i = 0; i < kCount; ++i) {
    const char* const value = getenv(kKept[i]);
    values[i] = value == NULL ? NULL : strdup(value);
  }
  clearenv();
  for (int i = 0; i < kCount; ++i) {
    if (values[i] != NULL) setenv(kKept[i], values[i], 1);
  }
  execv(argv[1], argv + 1);
  perror(argv[1]);
  return 2;
}
