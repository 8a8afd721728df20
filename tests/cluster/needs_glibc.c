// A library that programs of another C library than glibc cannot load: what must not be injected into them.
#include <gnu/libc-version.h>

__attribute__((constructor)) static void Ask(void) { gnu_get_libc_version(); }
