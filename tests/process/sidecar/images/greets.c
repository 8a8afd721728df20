/* A program that needs nothing but the C library. */
#include <stdio.h>

int main(void) {
  puts("hello");
  return 0;
}
