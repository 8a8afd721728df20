// Declares functions that some C libraries keep elsewhere or lack: glibc before 2.34 has them in libpthread
// and libdl, and musl has no dlvsym. They are declared weak, so that a library built for old glibc versions
// needs libc.so.6 and nothing else. A preloaded library that needs a library which the image lacks stops
// every program of the image.
//
// A source file that calls one of these functions includes this header. It calls LoaderIsThere() or
// ThreadsAreThere() first, or runs only after another function has done so.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

// __register_atfork is glibc's internal name of pthread_atfork. glibc itself exports pthread_atfork only to
// programs linked before glibc 2.3, and on aarch64 to none. musl has only pthread_atfork.
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

// Returns false in a process that was started without libdl under an old glibc.
inline bool LoaderIsThere() { return dladdr != nullptr && dlopen != nullptr && dlclose != nullptr; }

// Registers `child` to be called in every child of fork(). Returns false on failure.
inline bool AtFork(void (*child)()) {
  if (__register_atfork != nullptr) return __register_atfork(nullptr, nullptr, child, nullptr) == 0;
  return pthread_atfork != nullptr && pthread_atfork(nullptr, nullptr, child) == 0;
}

// Returns false in a process that was started without libpthread under an old glibc.
inline bool ThreadsAreThere() {
  return (__register_atfork != nullptr || pthread_atfork != nullptr) &&
         pthread_attr_setstacksize != nullptr && pthread_create != nullptr &&
         pthread_mutex_trylock != nullptr && pthread_setname_np != nullptr && pthread_sigmask != nullptr;
}

}  // namespace crossover::base
