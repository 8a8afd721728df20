/* The turnstile: the shared-memory layout through which the clients of one GPU take turns.
 *
 * There is one page per physical GPU. It is a sealed memfd that the arbiter creates and sends to each client
 * over its Unix socket. The GPU itself reads and writes the page by stream memory operations. Every word is
 * therefore 32 bits wide and naturally aligned, and clients change words by plain stores only: stream memory
 * operations have no compare-and-swap.
 *
 *      byte 0  +----------------------------------------------------------------------------+
 *              | header   magic, version, bytes, clients, arbiter_beat                      |
 *         256  +----------------------------------------------------------------------------+
 *              | slot 0   line 0  ready, hold, rel          written by the client's stream  |
 *              |          line 1  gate                      opened by the client that hands |
 *              |                                            over, shut by the slot's client |
 *              |          line 2  mode, successor, ...      written by the arbiter          |
 *              |          line 3  alive, phase, ...         written by the client's host    |
 *         512  +----------------------------------------------------------------------------+
 *              | slot 1   (the same four cache lines of 64 bytes)                           |
 *              |  ...                                                                       |
 *        3840  +----------------------------------------------------------------------------+
 *              | slot 14                                                                    |
 *        4096  +----------------------------------------------------------------------------+
 *
 * The client in slot 0 hands its turn k over to the client in slot 1, which waits for its turn n, by two
 * stores of its stream:
 *
 *     slot 0  holds k        slot[1].gate = open,   rel = k
 *                                   |
 *     slot 1  waits for n    gate >= n ends its wait,   hold = n,   gate = shut for the turn after n
 *
 * Trust: every client maps the page writable. Readers validate all values that they read from it. The page
 * holds no pointer, offset, length or pthread object.
 *
 * A reserved word never gets a meaning: daemons of earlier releases take a write there for damage
 * (deviceplugin/arbiter/tamper_detector.cc). What needs a new word raises CROSSOVER_TURNSTILE_VERSION
 * (docs/design/0067-versions.md), or has a second page, which comes by a message of its own
 * (docs/design/0060-turns-at-every-gap.md).
 *
 * turn/ops.h (clients) and turn/token.h (arbiter) define how the words work together, and
 * docs/design/0001-who-grants.md explains it. The header is for C and C++. The layout has fixed widths, is
 * little endian, and is identical on x86-64 and aarch64. */
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
#define CROSSOVER_MAX_CLIENTS 15 /* clients per GPU, slots per page */
#define CROSSOVER_MAX_TURNS 4    /* turns per iteration with a position of their own */
#define CROSSOVER_STRETCH_BITS 10
#define CROSSOVER_MOST_SLICE_BITS 6 /* of crossover_slot.slice_bits */
#define CROSSOVER_PAGE_BYTES 4096

/* What the arbiter asks a client to do (crossover_slot.mode). */
enum crossover_mode {
  CROSSOVER_MODE_OFF = 0,     /* pass all calls through and watch nothing */
  CROSSOVER_MODE_OBSERVE = 1, /* detect phases and insert nothing */
  CROSSOVER_MODE_GATE = 2     /* take turns */
};

/* The state that a client reports (crossover_slot.phase). */
enum crossover_phase {
  CROSSOVER_PHASE_LEARNING = 0, /* no period is known, or the known one has ended */
  CROSSOVER_PHASE_LOCKED = 1,   /* a period is known: the client can take turns */
  CROSSOVER_PHASE_TAKING = 2    /* the client inserts acquire and release operations */
};

/* The words of one client. Each client counts its turns 1, 2, 3, ...; the count wraps. A turn has one or more
 * stretches, with yield points between them. A number k holds the turn above CROSSOVER_STRETCH_BITS and the
 * stretch below. Numbers are compared cyclically.
 *
 *   state     words                                     meaning
 *   idle      ready == hold == rel                      the client asks for no turn
 *   waiting   hold == rel, ready is the number after    it has asked for a turn and has not been let in
 *   holding   hold is the number after rel              it has the turn
 *
 * The gate lets number k pass while (int32_t)(gate - k) >= 0. */
struct crossover_slot {
  /* Cache line 0. The client's GPU stream writes it, or the client's host with host gates. */
  uint32_t ready; /* number that the client asks for */
  uint32_t hold;  /* number that the client was let in with */
  uint32_t rel;   /* number that the client gave back */
  uint32_t reserved0[13];
  /* Cache line 1. The client that hands over to this one opens the gate, or the arbiter does. This client
   * shuts the gate when it has passed it. */
  uint32_t gate;
  uint32_t reserved1[15];
  /* Cache line 2. The arbiter writes it for the client's host. */
  uint32_t mode; /* enum crossover_mode */
  /* Changes in the slots of all clients when a client joins or leaves. A slot without a client keeps its last
   * value. No client acts on it. The arbiter only checks that no client has written over it. */
  uint32_t generation;
  /* The slot whose gate this client opens when it gives a turn back, by the turn's position in the iteration
   * (turn % turns). It may be the client's own slot. See slice_bits. */
  uint32_t successor[CROSSOVER_MAX_TURNS];
  /* Launches between two yield points, by the same position. 0: a turn of usual length has no yield point. */
  uint32_t stretch_launches[CROSSOVER_MAX_TURNS];
  /* A client with turns_last keeps the token for a slice of 2^slice_bits whole iterations. It opens its own
   * gate after each turn until its iteration number passes a multiple of the slice's length, and then it
   * opens the gate of its successor. 0, or more than CROSSOVER_MOST_SLICE_BITS: it opens its successor's gate
   * after each turn. */
  uint32_t slice_bits;
  uint32_t reserved2[5];
  /* Cache line 3. The client's host writes it for the arbiter. */
  uint32_t alive;  /* raw robust futex word, owned by the client's liveness thread */
  uint32_t phase;  /* enum crossover_phase */
  uint32_t faults; /* how often the client opened its own gate because no other process did */
  /* Increases while the client's host makes progress. Its stream writes it once, to show that stores of the
   * GPU arrive. */
  uint32_t heartbeat;
  /* Turns per iteration; 0 while unknown. If there are more than CROSSOVER_MAX_TURNS, all have position 0. */
  uint32_t turns;
  uint32_t turn_launches; /* launches in the longest of its last turns; 0 while unknown */
  /* The number of the job's iteration, minus the turn's number divided by `turns`. A reader adds it to the
   * number of a turn, divided by `turns`, and gets an iteration number that is the same on all ranks. If
   * `turns` is more than CROSSOVER_MAX_TURNS, both divide by 1. The sum is then the iteration of the newest
   * turn that the host has queued, and not of the turns before it. */
  uint32_t iteration_offset;
  uint32_t periods;      /* iterations since the period was found; wraps, restarts with each period */
  uint32_t iteration;    /* number of the job's iteration, as its host counts it; the same on all ranks */
  uint32_t turns_last;   /* 1: its turns last until their collectives have ended (time-slices) */
  uint32_t watch_reason; /* why it can take no turns (common/base/watch_reason.h); 0: it can */
  /* The client's own count of the GPU memory that it uses. */
  uint32_t memory_budget_mib; /* 0: no budget */
  uint32_t memory_used_mib;
  uint32_t memory_refusals; /* allocations refused for the budget; wraps */
  uint32_t reserved3[2];
};

struct crossover_page {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;          /* sizeof(struct crossover_page) */
  uint32_t clients;        /* CROSSOVER_MAX_CLIENTS */
  uint32_t arbiter_beat;   /* increases with each pass of the arbiter; stands still when the arbiter hangs */
  uint32_t signaller_beat; /* increases while a signaller follows the page (proto/signaller_protocol.h) */
  uint32_t signals_again;  /* signals that it wrote more than once for a client that waits at its open gate;
                              wraps */
  uint32_t reserved[57];
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
