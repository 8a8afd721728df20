// Does nothing. Tests have `crossover run` preload this library.
extern "C" __attribute__((visibility("default"))) int crossover_test_preloaded;
int crossover_test_preloaded = 1;
