/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox of another core in a memory that both see. It needs no register and no interrupt; where
 * there are any, each side signals the other one after it has written.
 *
 * Each side writes its own half and looks at the other's. Memory may hold anything after power-up, and
 * what an earlier program left after a reset, so nothing counts before both agree on a connection: the
 * host names a new one; the core, once it has begun, takes what was sent until then as answered and
 * repeats the name. From then on the host sends command by command, and the core answers each. */
#ifndef ATOLL_SHARED_MAILBOX_H
#define ATOLL_SHARED_MAILBOX_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_runtime.h"
#include "atoll_status.h"

/* Cycles between two looks at the other side. */
#ifndef ATOLL_SHARED_MAILBOX_PERIOD
#define ATOLL_SHARED_MAILBOX_PERIOD 64u
#endif

/* Bytes of a half; no line of a cache is longer. */
enum { ATOLL_SHARED_MAILBOX_SIDE = 64, ATOLL_SHARED_MAILBOX_REST = 13 };

struct atoll_shared_mailbox_halves {
  struct {
    uint32_t connection;
    uint32_t sent; /* commands so far */
    uint32_t command;
    uint32_t rest[ATOLL_SHARED_MAILBOX_REST];
  } host;
  struct {
    uint32_t connection;
    uint32_t answered; /* likewise */
    uint32_t result;
    uint32_t rest[ATOLL_SHARED_MAILBOX_REST];
  } core;
};

/* Whether a data cache of whoever compiles this keeps lines of mailboxes. */
#ifndef ATOLL_SHARED_MAILBOX_CACHED
#define ATOLL_SHARED_MAILBOX_CACHED ATOLL_HOST_CACHES_MAILBOXES
#ifdef ATOLL_HOST_SHARES_MAILBOX
#define ATOLL_SHARED_MAILBOX_IS_SEEN(half) ATOLL_HOST_SHARES_MAILBOX((uintptr_t)(half))
#endif
#endif
/* Whether both sides have the data cache that keeps lines of a half. */
#ifndef ATOLL_SHARED_MAILBOX_IS_SEEN
#define ATOLL_SHARED_MAILBOX_IS_SEEN(half) 0
#endif
#if ATOLL_SHARED_MAILBOX_CACHED
void atoll_cache_clean(void *address, uint32_t size);
void atoll_cache_invalidate(void *address, uint32_t size);
#endif

/* Let the other side see this half as it is now, after all that was written before. */
static inline void atoll_shared_mailbox_give(volatile void *half) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if ATOLL_SHARED_MAILBOX_CACHED
  if (!ATOLL_SHARED_MAILBOX_IS_SEEN(half))
    atoll_cache_clean((void *)(uintptr_t)half, ATOLL_SHARED_MAILBOX_SIDE);
#else
  (void)half;
#endif
}

/* See the other side's half as it is now, before all that is read from then on. */
static inline void atoll_shared_mailbox_take(const volatile void *half) {
#if ATOLL_SHARED_MAILBOX_CACHED
  if (!ATOLL_SHARED_MAILBOX_IS_SEEN(half))
    atoll_cache_invalidate((void *)(uintptr_t)half, ATOLL_SHARED_MAILBOX_SIDE);
#else
  (void)half;
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Have the other side look, and lower what had this side look; nothing without signals. Those of the
 * host are in atoll_devices.c, those of a core beside its main function. */
#ifndef ATOLL_SHARED_MAILBOX_SIGNALS
#define ATOLL_SHARED_MAILBOX_SIGNALS ATOLL_HOST_SIGNALS
#endif
#if ATOLL_SHARED_MAILBOX_SIGNALS
void atoll_shared_mailbox_signal(volatile const void *mailbox);
void atoll_shared_mailbox_hear(volatile const void *mailbox);
#else
static inline void atoll_shared_mailbox_signal(volatile const void *mailbox) {
  (void)mailbox;
}
static inline void atoll_shared_mailbox_hear(volatile const void *mailbox) {
  (void)mailbox;
}
#endif

/* Cycles to the next look of a side that waits at most so many. Where a line at the interrupt controller
 * wakes it, it need not look before; events and software interrupts may be lost, or not be waited for. */
static inline uint32_t atoll_shared_mailbox_turn(uint32_t line, uint32_t most) {
  uint32_t turn = 64u * ATOLL_SHARED_MAILBOX_PERIOD;
  if (line < ATOLL_NO_LINE) turn = most;
  if (line == ATOLL_NO_LINE) turn = ATOLL_SHARED_MAILBOX_PERIOD;
  return turn < most ? turn : most;
}

/* Send a command to a core that has answered all before. */
static inline void atoll_shared_mailbox_send(volatile struct atoll_shared_mailbox_halves *halves,
                                             uint32_t command) {
  halves->host.command = command;
  atoll_shared_mailbox_give(&halves->host);
  halves->host.sent = halves->host.sent + 1u;
  atoll_shared_mailbox_give(&halves->host);
  atoll_shared_mailbox_signal(halves);
}

/* Tell whether the core has answered all that was sent. */
static inline int atoll_shared_mailbox_answered(volatile struct atoll_shared_mailbox_halves *halves) {
  atoll_shared_mailbox_take(&halves->core);
  const int answered = halves->core.answered == halves->host.sent;
  atoll_shared_mailbox_take(&halves->core);
  return answered;
}

enum atoll_shared_mailbox_state {
  ATOLL_SHARED_MAILBOX_CREATED,
  ATOLL_SHARED_MAILBOX_INITIALISED,
  ATOLL_SHARED_MAILBOX_ACTIVE,
  ATOLL_SHARED_MAILBOX_OPEN
};

/* The mailbox of one core, as its host sees it. */
struct atoll_shared_mailbox {
  const char *name;
  uintptr_t address;
  uint32_t line; /* at the host, or what else atoll_wait_interrupt takes */
  enum atoll_shared_mailbox_state state;
};

/* The mailbox that atoll_devices.h describes as ATOLL_DEVICE_<device>_... */
#define ATOLL_SHARED_MAILBOX_CONTEXT(device)                                                        \
  {                                                                                                 \
    ATOLL_DEVICE_##device##_NAME, ATOLL_DEVICE_##device##_MAILBOX, ATOLL_DEVICE_##device##_IRQ,     \
        ATOLL_SHARED_MAILBOX_CREATED                                                                \
  }

/* Hooks, as those of mailbox.h. Activation waits until the core has begun, at most
 * ATOLL_SHARED_MAILBOX_PATIENCE cycles of the host. */
int32_t atoll_shared_mailbox_init(struct atoll_shared_mailbox *mailbox);
int32_t atoll_shared_mailbox_activate(struct atoll_shared_mailbox *mailbox);
int32_t atoll_shared_mailbox_open(struct atoll_shared_mailbox *mailbox);
int32_t atoll_shared_mailbox_close(struct atoll_shared_mailbox *mailbox);
int32_t atoll_shared_mailbox_deactivate(struct atoll_shared_mailbox *mailbox);
int32_t atoll_shared_mailbox_destroy(struct atoll_shared_mailbox *mailbox);

/* Have the idle core behind an open mailbox run `command`. */
int32_t atoll_shared_mailbox_start(const struct atoll_shared_mailbox *mailbox, int32_t command);

/* Wait for the end of what was started, at most about `timeout` cycles of the host, and return what
 * the core answers. A core that did not answer in time stays busy until it does. */
int32_t atoll_shared_mailbox_wait(const struct atoll_shared_mailbox *mailbox, uint32_t timeout);

#endif
