// A library that an image preloads into its own programs, by LD_PRELOAD: says so as each of them ends.
#include <stdio.h>

__attribute__((destructor)) static void Say(void) { fputs("own preload was here\n", stderr); }
