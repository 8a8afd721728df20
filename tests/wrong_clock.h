/* Shifts the clocks that can be set (CLOCK_REALTIME) by what a test says. Monotonic clocks stay as they
 * are. */
#pragma once

#include <time.h>

/* Returns the shift in seconds. `draw` differs at every reading. */
time_t off_by(long draw);
