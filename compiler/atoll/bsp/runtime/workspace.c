/* SPDX-License-Identifier: Apache-2.0 */
/* The LIFO workspace allocator. */
#include "atoll_workspace.h"

enum { NOTE = sizeof(uint32_t) };

static uint32_t round_up(uint32_t size) {
  return (size + ATOLL_WORKSPACE_ALIGNMENT - 1u) & ~(ATOLL_WORKSPACE_ALIGNMENT - 1u);
}

/* Where the start of live block `index` is noted. */
static uint32_t *note(const struct atoll_workspace *workspace, uint32_t index) {
  return (uint32_t *)(void *)(workspace->base + workspace->capacity) - 1u - index;
}

int32_t atoll_workspace_init(struct atoll_workspace *workspace, void *memory, uint32_t size) {
  const uint32_t skipped =
      (uint32_t)(-(uintptr_t)memory & (uintptr_t)(ATOLL_WORKSPACE_ALIGNMENT - 1u));
  if (memory == 0 || size < skipped) return ATOLL_ERROR_ARGUMENT;
  workspace->base = (uint8_t *)memory + skipped;
  workspace->capacity = (size - skipped) & ~(ATOLL_WORKSPACE_ALIGNMENT - 1u);
  workspace->used = 0u;
  workspace->blocks = 0u;
  return ATOLL_OK;
}

int32_t atoll_workspace_allocate(struct atoll_workspace *workspace, uint32_t size, void **block) {
  const uint32_t notes = (workspace->blocks + 1u) * NOTE;
  const uint32_t taken = workspace->used + notes;
  if (size == 0u) return ATOLL_ERROR_ARGUMENT;
  if (taken > workspace->capacity || size > workspace->capacity - taken)
    return ATOLL_ERROR_NO_MEMORY;
  *note(workspace, workspace->blocks) = workspace->used;
  *block = workspace->base + workspace->used;
  workspace->used += round_up(size);
  workspace->blocks += 1u;
  return ATOLL_OK;
}

int32_t atoll_workspace_free(struct atoll_workspace *workspace, const void *block) {
  if (workspace->blocks == 0u) return ATOLL_ERROR_ORDER;
  const uint32_t start = *note(workspace, workspace->blocks - 1u);
  if ((const uint8_t *)block != workspace->base + start) return ATOLL_ERROR_ORDER;
  workspace->used = start;
  workspace->blocks -= 1u;
  return ATOLL_OK;
}
