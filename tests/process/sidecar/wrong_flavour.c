/* Hooks the driver wrongly, for a test; it is preloaded in front of our library. It asks cuGetProcAddress for
 * the flavour of the legacy default stream, whichever flavour the caller wants. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, void*);
typedef void* (*Dlsym)(void*, const char*);

static GetProcAddress next_get;

static int without_flags(const char* name, void** function, int version, unsigned long long flags,
                         void* status) {
  (void)flags;
  const int result = next_get(name, function, version, 0, status);
  /* The runtime asks cuGetProcAddress for itself, and uses the answer from then on. */
  if (result == 0 && version >= 12000 && strcmp(name, "cuGetProcAddress") == 0)
    *function = (void*)without_flags;
  return result;
}

/* Returns the dlsym of the library that NEXT_HOOK names. The loader would not find it by the C library's
 * symbol version. */
static Dlsym next_dlsym(void) {
  Dlsym real = (Dlsym)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (real == NULL) real = (Dlsym)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
  return (Dlsym)real(dlopen(getenv("NEXT_HOOK"), RTLD_NOW | RTLD_NOLOAD), "dlsym");
}

void* dlsym(void* handle, const char* name) {
  static Dlsym next;
  if (next == NULL) next = next_dlsym();
  void* found = next(handle, name);
  if (found == NULL || strcmp(name, "cuGetProcAddress_v2") != 0) return found;
  next_get = (GetProcAddress)found;
  return (void*)without_flags;
}
