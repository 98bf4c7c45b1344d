/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of Arm's Ethos-U55, U65 and U85: Arm's own where it is linked, else Atoll's model of the border. */
#include "ethos_u.h"

#include "atoll_runtime.h"

/* The model of the border has its identity where an NPU has the version of its architecture. */
static int32_t is_modelled(const struct atoll_ethos_u *npu) {
  const struct atoll_command_list *border = &npu->border;
  return atoll_read(border->registers + border->identity[0].offset) == border->identity[0].value;
}

#ifndef ATOLL_ETHOS_U_DRIVER

int32_t atoll_ethos_u_init(struct atoll_ethos_u *npu) {
  if (is_modelled(npu) != 0) return atoll_command_list_init(&npu->border);
  atoll_print(npu->border.name);
  atoll_print(": no Ethos-U driver is linked\n");
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_ethos_u_activate(struct atoll_ethos_u *npu) {
  return atoll_command_list_activate(&npu->border);
}

int32_t atoll_ethos_u_open(struct atoll_ethos_u *npu) {
  return atoll_command_list_open(&npu->border);
}

int32_t atoll_ethos_u_close(struct atoll_ethos_u *npu) {
  return atoll_command_list_close(&npu->border);
}

int32_t atoll_ethos_u_deactivate(struct atoll_ethos_u *npu) {
  return atoll_command_list_deactivate(&npu->border);
}

int32_t atoll_ethos_u_destroy(struct atoll_ethos_u *npu) {
  return atoll_command_list_destroy(&npu->border);
}

int32_t atoll_ethos_u_start(struct atoll_ethos_u *npu, const void *blocks, int32_t count) {
  return atoll_command_list_start(&npu->border, blocks, count);
}

int32_t atoll_ethos_u_wait(struct atoll_ethos_u *npu, uint32_t timeout) {
  return atoll_command_list_wait(&npu->border, timeout);
}

#else

#include "atoll_devices.h"

#define BLOCK_MAGIC UINT32_C(0x55485445)

/* Secure state and privileges in which the NPU makes its accesses. */
#ifndef ATOLL_ETHOS_U_SECURE
#ifdef ATOLL_NON_SECURE
#define ATOLL_ETHOS_U_SECURE 0u
#else
#define ATOLL_ETHOS_U_SECURE 1u
#endif
#endif
#ifndef ATOLL_ETHOS_U_PRIVILEGED
#define ATOLL_ETHOS_U_PRIVILEGED 1u
#endif

/* An interrupt is waited for in turns of so many cycles of the core. */
#define TURN_CYCLES 65536u

/* One for each instance, and those that Arm's driver has for itself. */
#define SEMAPHORES (ATOLL_DEVICE_COUNT + 4)

struct semaphore {
  uint32_t count;
  uint32_t used;
};

static struct semaphore semaphores[SEMAPHORES];
static struct atoll_ethos_u *first;

/* Arm's driver asks for these where its own are weak: no heap, and no vector is needed. */
void *ethosu_semaphore_create(void) {
  for (uint32_t i = 0u; i < SEMAPHORES; i++) {
    if (semaphores[i].used != 0u) continue;
    semaphores[i] = (struct semaphore){.count = 0u, .used = 1u};
    return &semaphores[i];
  }
  return NULL;
}

void ethosu_semaphore_destroy(void *semaphore) {
  ((struct semaphore *)semaphore)->used = 0u;
}

int ethosu_semaphore_give(void *semaphore) {
  ((struct semaphore *)semaphore)->count++;
  return 0;
}

/* Hand the interrupt of each instance that works on to Arm's driver; returns how long that took. */
static uint32_t serve(uint32_t turn) {
  uint32_t waited = 0u;
  for (struct atoll_ethos_u *npu = first; npu != NULL; npu = npu->next) {
    if (npu->driver.job.state != ETHOSU_JOB_RUNNING) continue;
    if (atoll_wait_interrupt(npu->border.irq, turn) != 0) ethosu_irq_handler(&npu->driver);
    waited += turn;
  }
  return waited;
}

static uint32_t longest(void) {
  uint32_t most = 0u;
  for (const struct atoll_ethos_u *npu = first; npu != NULL; npu = npu->next)
    if (npu->timeout > most) most = npu->timeout;
  return most;
}

int ethosu_semaphore_take(void *semaphore, uint64_t timeout) {
  struct semaphore *taken = semaphore;
  const uint32_t most = longest();
  uint32_t waited = 0u;
  while (taken->count == 0u) {
    const uint32_t turn = timeout == 0u || waited >= most ? 0u : serve(TURN_CYCLES);
    if (turn == 0u && taken->count == 0u) return -1;
    waited += turn;
  }
  taken->count--;
  return 0;
}

int32_t atoll_ethos_u_init(struct atoll_ethos_u *npu) {
  npu->modelled = is_modelled(npu);
  if (npu->modelled != 0) return atoll_command_list_init(&npu->border);
  if (npu->border.state != ATOLL_COMMAND_LIST_CREATED) return ATOLL_ERROR_ORDER;
  if (ethosu_init(&npu->driver, (void *)npu->border.registers, NULL, 0u, ATOLL_ETHOS_U_SECURE,
                  ATOLL_ETHOS_U_PRIVILEGED) != 0)
    return ATOLL_ERROR_WRONG_DEVICE;
  npu->next = first;
  first = npu;
  npu->border.state = ATOLL_COMMAND_LIST_INITIALISED;
  return ATOLL_OK;
}

static int32_t step(struct atoll_ethos_u *npu, enum atoll_command_list_state from,
                    enum atoll_command_list_state to) {
  if (npu->border.state != from) return ATOLL_ERROR_ORDER;
  npu->border.state = to;
  return ATOLL_OK;
}

int32_t atoll_ethos_u_activate(struct atoll_ethos_u *npu) {
  if (npu->modelled != 0) return atoll_command_list_activate(&npu->border);
  return step(npu, ATOLL_COMMAND_LIST_INITIALISED, ATOLL_COMMAND_LIST_ACTIVE);
}

int32_t atoll_ethos_u_open(struct atoll_ethos_u *npu) {
  if (npu->modelled != 0) return atoll_command_list_open(&npu->border);
  return step(npu, ATOLL_COMMAND_LIST_ACTIVE, ATOLL_COMMAND_LIST_OPEN);
}

int32_t atoll_ethos_u_close(struct atoll_ethos_u *npu) {
  if (npu->modelled != 0) return atoll_command_list_close(&npu->border);
  return step(npu, ATOLL_COMMAND_LIST_OPEN, ATOLL_COMMAND_LIST_ACTIVE);
}

int32_t atoll_ethos_u_deactivate(struct atoll_ethos_u *npu) {
  if (npu->modelled != 0) return atoll_command_list_deactivate(&npu->border);
  return step(npu, ATOLL_COMMAND_LIST_ACTIVE, ATOLL_COMMAND_LIST_INITIALISED);
}

int32_t atoll_ethos_u_destroy(struct atoll_ethos_u *npu) {
  if (npu->modelled != 0) return atoll_command_list_destroy(&npu->border);
  const int32_t status = step(npu, ATOLL_COMMAND_LIST_INITIALISED, ATOLL_COMMAND_LIST_CREATED);
  if (status != ATOLL_OK) return status;
  struct atoll_ethos_u **link = &first;
  while (*link != npu) link = &(*link)->next;
  *link = npu->next;
  ethosu_deinit(&npu->driver);
  return ATOLL_OK;
}

int32_t atoll_ethos_u_start(struct atoll_ethos_u *npu, const void *blocks, int32_t count) {
  const struct atoll_ethos_u_block *block = blocks;
  if (npu->modelled != 0) return atoll_command_list_start(&npu->border, blocks, count);
  if (npu->border.state != ATOLL_COMMAND_LIST_OPEN) return ATOLL_ERROR_ORDER;
  if (count != 1 || block->magic != BLOCK_MAGIC || block->count > ATOLL_ETHOS_U_REGIONS)
    return ATOLL_ERROR_ARGUMENT;
  for (uint32_t i = 0u; i < block->count; i++) {
    npu->base[i] = block->region[i].address;
    npu->size[i] = block->region[i].size;
  }
  const void *payload = (const void *)(uintptr_t)block->payload;
  const int status = ethosu_invoke_async(&npu->driver, payload, (int)block->payload_size, npu->base,
                                         npu->size, (int)block->count, NULL);
  return status == 0 ? ATOLL_OK : ATOLL_ERROR_DEVICE;
}

int32_t atoll_ethos_u_wait(struct atoll_ethos_u *npu, uint32_t timeout) {
  if (npu->modelled != 0) return atoll_command_list_wait(&npu->border, timeout);
  if (npu->border.state != ATOLL_COMMAND_LIST_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  npu->timeout = timeout;
  return ethosu_wait(&npu->driver, true) == 0 ? ATOLL_OK : ATOLL_ERROR_DEVICE;
}

#endif
