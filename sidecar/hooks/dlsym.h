// The decision behind our dlsym; the entry point itself is assembler (dlsym_<architecture>.S).
//
// dlsym(RTLD_NEXT, ...) means "after the caller", which the C library learns from the return address. A dlsym
// that calls the real one would be the caller itself, and other preloaded libraries would find themselves and
// recurse. So ours asks crossover_dlsym() what to do, with its own caller's address, and then either jumps to
// the real function as if it had never been there, or returns a value.
#pragma once

extern "C" {

struct crossover_dlsym_answer {
  void* jump;   // the real dlsym, or null:
  void* value;  // then this is the answer
};

crossover_dlsym_answer crossover_dlsym(void* handle, const char* name, void* caller);
}
