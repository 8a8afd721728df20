#include "examples/trainer/trainer.h"

int main(int argc, char** argv) { return crossover::trainer::Main(argc, argv); }
