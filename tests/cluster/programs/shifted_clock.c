/* Gives a process the time of day of a machine whose clock is wrong: CLOCK_SHIFT_S seconds ahead of others,
 * or behind if negative. */
#include <stdlib.h>
#include <time.h>

#include "tests/wrong_clock.h"

time_t off_by(long draw) {
  (void)draw;
  const char* text = getenv("CLOCK_SHIFT_S");
  return text != NULL ? (time_t)atoll(text) : 0;
}
