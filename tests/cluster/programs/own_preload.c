// Stands for a library that an image preloads into its own programs by LD_PRELOAD. It writes a line as each
// program ends.
#include <stdio.h>

__attribute__((destructor)) static void Say(void) { fputs("own preload was here\n", stderr); }
