/* Gives a process the time of day of a machine whose clock is set again and again: by up to an hour, forward
 * or back, at every reading. */
#include <time.h>

#include "tests/wrong_clock.h"

time_t off_by(long draw) { return draw % 7200 - 3600; }
