// This file is linked into test programs that start no thread. It ends a program that starts one, because
// such programs are left out of the thread sanitizer's preset.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  (void)thread, (void)attributes, (void)run, (void)argument;
  fputs("this test starts a thread: take ONE_THREAD from its crossover_unit_test()\n", stderr);
  abort();
}
