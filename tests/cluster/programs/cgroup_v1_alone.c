/* Makes a program a reader of version 1's control groups alone: of /proc/PID/cgroup it sees the lines of
 * hierarchies that have a number, and not that of version 2. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int (*Open)(const char*, int, ...);

/* Returns a descriptor of the text of `given` without the line of version 2, or -1. It closes `given`. */
static int without_version_2(int given) {
  FILE* from = fdopen(given, "r");
  if (from == NULL) return -1;
  const int made = memfd_create("cgroup", MFD_CLOEXEC);
  char line[4096];
  while (made >= 0 && fgets(line, sizeof line, from) != NULL) {
    if (strncmp(line, "0::", 3) != 0 && write(made, line, strlen(line)) < 0) break;
  }
  fclose(from);
  if (made >= 0) lseek(made, 0, SEEK_SET);
  return made;
}

static int opened(const char* name, const char* path, int flags, mode_t mode) {
  const Open real = (Open)dlsym(RTLD_NEXT, name);
  const int file = real(path, flags, mode);
  return file >= 0 && fnmatch("/proc/*/cgroup", path, 0) == 0 ? without_version_2(file) : file;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened("open64", path, flags, mode);
}

/* What a program calls that was compiled with checks. */
int __open_2(const char* path, int flags);
int __open_2(const char* path, int flags) { return opened("open", path, flags, 0); }
int __open64_2(const char* path, int flags);
int __open64_2(const char* path, int flags) { return opened("open64", path, flags, 0); }
