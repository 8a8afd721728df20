// A library that does nothing: what `crossover run` preloads in tests.
extern "C" __attribute__((visibility("default"))) int crossover_test_preloaded;
int crossover_test_preloaded = 1;
