/* Stands for a program that needs only the C library. */
#include <stdio.h>

int main(void) {
  puts("hello");
  return 0;
}
