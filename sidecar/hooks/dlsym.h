// Decides what our dlsym answers. The entry point itself is assembler (hooks/dlsym_entry.S).
//
// dlsym(RTLD_NEXT, ...) means "after the caller", which the C library learns from the return address. If our
// dlsym called the real one, our library would be that caller. Other preloaded libraries would then find
// themselves and recurse. So our dlsym passes its caller's address to crossover_dlsym(). Then it either jumps
// to the real function, with the stack and arguments as its caller left them, or returns a value.
#pragma once

extern "C" {

// A crossover_dlsym_answer says what dlsym does next.
struct crossover_dlsym_answer {
  void* jump;   // the real dlsym, or null
  void* value;  // the result, if `jump` is null
};

// Decides what dlsym(handle, name) does for code at `caller`.
crossover_dlsym_answer crossover_dlsym(void* handle, const char* name, void* caller);
}
