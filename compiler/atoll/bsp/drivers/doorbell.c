/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines with a doorbell and a queue. */
#include "doorbell.h"

#include "atoll_runtime.h"

#define COMMAND_BYTES 64u

/* An interrupt that got lost is noticed after so many cycles of the core. */
#define POLL_CYCLES 4096u

/* What a wait counts that an interrupt ends without a command that has ended. */
#define IDLE_CYCLES 128u

enum { CONTROL_CLEAR = 4 };
enum { STATUS_BUSY = 1, STATUS_ERROR = 4 };

static uint32_t get(const struct atoll_doorbell *engine, uint32_t offset) {
  return atoll_read(engine->base.registers + offset);
}

static void set(const struct atoll_doorbell *engine, uint32_t offset, uint32_t value) {
  atoll_write(engine->base.registers + offset, value);
}

int32_t atoll_doorbell_init(struct atoll_doorbell *engine) {
  return atoll_command_list_init(&engine->base);
}

int32_t atoll_doorbell_activate(struct atoll_doorbell *engine) {
  return atoll_command_list_activate(&engine->base);
}

int32_t atoll_doorbell_open(struct atoll_doorbell *engine) {
  return atoll_command_list_open(&engine->base);
}

int32_t atoll_doorbell_close(struct atoll_doorbell *engine) {
  return atoll_command_list_close(&engine->base);
}

int32_t atoll_doorbell_deactivate(struct atoll_doorbell *engine) {
  return atoll_command_list_deactivate(&engine->base);
}

int32_t atoll_doorbell_destroy(struct atoll_doorbell *engine) {
  return atoll_command_list_destroy(&engine->base);
}

/* Ring for commands as there are places in the queue. */
static void ring(struct atoll_doorbell *engine, uint32_t completed) {
  const uint32_t places = get(engine, engine->base.map.list_count);
  while (engine->rung < engine->count && engine->rung - completed < places) {
    const uintptr_t command = engine->commands + (uintptr_t)COMMAND_BYTES * engine->rung;
    set(engine, engine->base.map.list_address, (uint32_t)command);
    engine->rung++;
  }
}

/* Tell whether there is nothing to wait for any more: all commands have ended, one has failed, or the
 * engine has forgotten some. What the interrupt has told is taken back before, so that what ends later
 * raises it again. */
static int32_t ended(struct atoll_doorbell *engine, uint32_t *completed) {
  set(engine, engine->base.map.irq_status, 1u);
  const uint32_t status = get(engine, engine->base.map.status);
  *completed = get(engine, engine->base.map.completed) - engine->completed_before;
  if ((status & STATUS_ERROR) != 0u || *completed == engine->count) return 1;
  if ((status & STATUS_BUSY) == 0u && *completed != engine->rung) return 1;
  ring(engine, *completed);
  return 0;
}

static int32_t wait(struct atoll_doorbell *engine, uint32_t timeout) {
  uint32_t completed = 0u, before = 0u, waited = 0u;
  while (ended(engine, &completed) == 0) {
    waited = completed == before ? waited : 0u;
    before = completed;
    if (waited >= timeout) return atoll_command_list_give_up(&engine->base, completed);
    const uint32_t left = timeout - waited;
    const uint32_t turn = left < POLL_CYCLES ? left : POLL_CYCLES;
    waited += atoll_wait_interrupt(engine->base.irq, turn) != 0 ? IDLE_CYCLES : turn;
  }
  return ATOLL_OK;
}

static int32_t outcome(const struct atoll_doorbell *engine) {
  const uint32_t status = get(engine, engine->base.map.status);
  const uint32_t completed = get(engine, engine->base.map.completed) - engine->completed_before;
  if ((status & STATUS_ERROR) == 0u && completed == engine->count) return ATOLL_OK;
  return atoll_command_list_fail(&engine->base);
}

int32_t atoll_doorbell_start(struct atoll_doorbell *engine, const void *commands, int32_t count) {
  if (engine->base.state != ATOLL_COMMAND_LIST_OPEN) return ATOLL_ERROR_ORDER;
  if (atoll_command_list_is_legal(commands, count) == 0) return ATOLL_ERROR_ARGUMENT;
  if ((get(engine, engine->base.map.status) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  engine->commands = (uintptr_t)commands;
  engine->count = (uint32_t)count;
  engine->rung = 0u;
  set(engine, engine->base.map.control, CONTROL_CLEAR);
  engine->completed_before = get(engine, engine->base.map.completed);
  ring(engine, 0u);
  return ATOLL_OK;
}

int32_t atoll_doorbell_wait(struct atoll_doorbell *engine, uint32_t timeout) {
  if (engine->base.state != ATOLL_COMMAND_LIST_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = wait(engine, timeout);
  return status == ATOLL_OK ? outcome(engine) : status;
}

int32_t atoll_doorbell_run(struct atoll_doorbell *engine, const void *commands, int32_t count,
                           uint32_t timeout) {
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = atoll_doorbell_start(engine, commands, count);
  return status == ATOLL_OK ? atoll_doorbell_wait(engine, timeout) : status;
}
