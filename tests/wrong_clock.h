/* The clocks that a machine sets, off by what a test says. What counts from some start, and nobody sets, is
 * as it is. */
#pragma once

#include <time.h>

/* Seconds; `draw` differs at every look. */
time_t off_by(long draw);
