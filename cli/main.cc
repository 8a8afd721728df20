#include "cli/app.h"

int main(int argc, char** argv) { return crossover::cli::Main(argc, argv, CROSSOVER_VERSION); }
