// A library that programs with another C library than glibc cannot load. It must not be injected into them.
#include <gnu/libc-version.h>

__attribute__((constructor)) static void Ask(void) { gnu_get_libc_version(); }
