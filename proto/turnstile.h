/* The turnstile: shared-memory layout of one GPU's turns.
 *
 * One page object per physical GPU, a sealed memfd made by the arbiter and handed to each client over its
 * unix socket. The GPU itself reads and writes it through stream memory operations, so every word is 32 bits
 * wide, naturally aligned, and changed by plain stores only: no compare-and-swap exists on that path.
 *
 * Trust: every client maps the page writable. Whatever is read from it is validated; nothing in it is a
 * pointer, an offset, a length or a pthread object.
 *
 * How the words work together is defined by turn/ops.h (clients) and turn/token.h (arbiter), and explained in
 * docs/design/0001-who-grants.md. C and C++, fixed width, little endian, identical on x86-64 and aarch64. */
#ifndef CROSSOVER_PROTO_TURNSTILE_H_
#define CROSSOVER_PROTO_TURNSTILE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CROSSOVER_STATIC_ASSERT(condition, text) static_assert(condition, text)
extern "C" {
#else
#define CROSSOVER_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define CROSSOVER_TURNSTILE_MAGIC 0x54534f58u /* "XOST" */
#define CROSSOVER_TURNSTILE_VERSION 1u
#define CROSSOVER_MAX_CLIENTS 15 /* clients of one GPU; slots of one page */
#define CROSSOVER_MAX_TURNS 4    /* turns of one iteration */
#define CROSSOVER_STRETCH_BITS 10
#define CROSSOVER_PAGE_BYTES 4096

/* What the arbiter asks of a client (crossover_slot.mode). */
enum crossover_mode {
  CROSSOVER_MODE_OFF = 0,     /* pass everything through, watch nothing */
  CROSSOVER_MODE_OBSERVE = 1, /* detect phases, insert nothing */
  CROSSOVER_MODE_GATE = 2     /* take turns */
};

/* What a client says of itself (crossover_slot.phase). */
enum crossover_phase {
  CROSSOVER_PHASE_LEARNING = 0, /* no period known, or the known one was just broken */
  CROSSOVER_PHASE_LOCKED = 1,   /* period known: the client can take turns */
  CROSSOVER_PHASE_TAKING = 2    /* it inserts acquire and release operations now */
};

/* One client. Turns count 1, 2, 3, ... per client and wrap; each has one or more stretches, with yield points
 * between them. A number k has the turn above CROSSOVER_STRETCH_BITS and the stretch below; numbers are
 * compared cyclically. idle:    ready == hold == rel waiting: hold == rel, ready is the number after hold (it
 * has asked, and not been let in) holding: hold is the number after rel                  (it runs compute)
 * The gate lets k pass while (int32_t)(gate - k) >= 0. */
struct crossover_slot {
  /* Line 0, written by the client's GPU stream (or its host, with host gates). */
  uint32_t ready; /* number of the turn it asks for */
  uint32_t hold;  /* number of the turn it was let into */
  uint32_t rel;   /* number of the turn it gave back */
  uint32_t reserved0[13];
  /* Line 1: opened by the holder that hands over, or by the arbiter; shut by the client that passed it. */
  uint32_t gate;
  uint32_t reserved1[15];
  /* Line 2, written by the arbiter for the client's host. */
  uint32_t mode;       /* enum crossover_mode */
  uint32_t generation; /* of the membership; changes when a client joins or leaves */
  /* Slot whose gate this client opens when it gives a turn back, by the turn's place in the iteration (turn %
   * turns); may be itself. */
  uint32_t successor[CROSSOVER_MAX_TURNS];
  /* Launches between two yield points, by the turn's place likewise; 0: none in a turn of usual length. */
  uint32_t stretch_launches[CROSSOVER_MAX_TURNS];
  uint32_t reserved2[6];
  /* Line 3, written by the client's host for the arbiter. */
  uint32_t alive;         /* raw robust futex word, owned by the client's liveness thread */
  uint32_t phase;         /* enum crossover_phase */
  uint32_t faults;        /* times the client opened its own gate because nobody else did */
  uint32_t heartbeat;     /* counts up while the client's host makes progress */
  uint32_t turns;         /* of one iteration, 1 to CROSSOVER_MAX_TURNS; 0 while unknown */
  uint32_t turn_launches; /* in the longest of its last turns; 0 while unknown */
  /* Number of the job's iteration, the same on all its ranks, less the number of its turn divided by `turns`.
   */
  uint32_t iteration_offset;
  uint32_t periods; /* iterations completed since the period was found; wraps, starts anew with each period */
  uint32_t iteration;  /* number of the job's iteration, the same on all its ranks, as its host counts it */
  uint32_t turns_last; /* 1: its turns last until their collectives have ended (time-slices) */
  uint32_t
      watch_reason; /* why it takes no turns whatever is asked: common/base/watch_reason.h; 0: it would */
  /* Of the GPU's memory, in its own books. */
  uint32_t memory_budget_mib; /* 0: none */
  uint32_t memory_used_mib;
  uint32_t memory_refusals; /* allocations over the budget; wraps */
  uint32_t reserved3[2];
};

struct crossover_page {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;        /* sizeof(struct crossover_page) */
  uint32_t clients;      /* CROSSOVER_MAX_CLIENTS */
  uint32_t arbiter_beat; /* counts up at each pass of the arbiter: stands still when it hangs */
  uint32_t reserved[59];
  struct crossover_slot slot[CROSSOVER_MAX_CLIENTS];
};

CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_slot) == 256, "a slot is four cache lines");
CROSSOVER_STATIC_ASSERT(offsetof(struct crossover_slot, gate) == 64, "gate has a line of its own");
CROSSOVER_STATIC_ASSERT(offsetof(struct crossover_slot, mode) == 128, "line 2 is the arbiter's");
CROSSOVER_STATIC_ASSERT(offsetof(struct crossover_slot, alive) == 192, "line 3 is the host's");
CROSSOVER_STATIC_ASSERT(sizeof(struct crossover_page) == CROSSOVER_PAGE_BYTES, "one page of memory");

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* CROSSOVER_PROTO_TURNSTILE_H_ */
