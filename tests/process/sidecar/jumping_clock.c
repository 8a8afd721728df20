/* The time of day as on a machine whose clock is set again and again: by up to an hour, forth and back, at
 * every look. */
#include <time.h>

#include "tests/wrong_clock.h"

time_t off_by(long draw) { return draw % 7200 - 3600; }
