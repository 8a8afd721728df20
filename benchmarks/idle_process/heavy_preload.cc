// Does nothing itself. The libraries that it is linked with cause the cost.
extern "C" {
int crossover_heavy_preload = 0;
}
