// Does nothing itself: what it is linked with costs.
extern "C" {
int crossover_heavy_preload = 0;
}
