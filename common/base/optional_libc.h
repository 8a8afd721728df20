// Functions that a C library may keep elsewhere, or not have: before 2.34 glibc has them in libpthread and
// libdl, musl has no dlvsym. Declared weak, so that what is built for old ones needs libc.so.6 and nothing
// else: a preload that needs a library which the image lacks stops every program of the image. A source that
// calls one of them includes this, and asks LoaderIsThere() or ThreadsAreThere() first, or stands behind
// whoever did.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

// glibc's own name of pthread_atfork, which it exports itself only to what was linked before 2.3, and not at
// all on aarch64; musl has the other.
extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* object);

#pragma weak dladdr
#pragma weak dlclose
#pragma weak dlopen
#pragma weak dlvsym
#pragma weak pthread_atfork
#pragma weak __register_atfork
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_create
#pragma weak pthread_mutex_trylock
#pragma weak pthread_setcancelstate
#pragma weak pthread_setname_np
#pragma weak pthread_sigmask

namespace crossover::base {

// False in a process that was started without libdl under an old glibc.
inline bool LoaderIsThere() { return dladdr != nullptr && dlopen != nullptr && dlclose != nullptr; }

// Has `child` called in every child of a fork.
inline bool AtFork(void (*child)()) {
  if (__register_atfork != nullptr) return __register_atfork(nullptr, nullptr, child, nullptr) == 0;
  return pthread_atfork != nullptr && pthread_atfork(nullptr, nullptr, child) == 0;
}

// False in a process that was started without libpthread under an old glibc.
inline bool ThreadsAreThere() {
  return (__register_atfork != nullptr || pthread_atfork != nullptr) &&
         pthread_attr_setstacksize != nullptr && pthread_create != nullptr &&
         pthread_mutex_trylock != nullptr && pthread_setname_np != nullptr && pthread_sigmask != nullptr;
}

}  // namespace crossover::base
