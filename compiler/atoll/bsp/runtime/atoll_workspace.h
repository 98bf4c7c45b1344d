/* SPDX-License-Identifier: Apache-2.0 */
/* A LIFO allocator over a span of memory, for what is sized at run time only. */
#ifndef ATOLL_WORKSPACE_H
#define ATOLL_WORKSPACE_H

#include <stdint.h>

#include "atoll_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_WORKSPACE_ALIGNMENT 16u

/* Blocks grow up from `base`; the start of each live block is noted in 4 bytes at the end. */
struct atoll_workspace {
  uint8_t *base;
  uint32_t capacity;
  uint32_t used;
  uint32_t blocks;
};

/* Take `size` bytes at `memory`; the base is rounded up to the alignment, the capacity down. */
int32_t atoll_workspace_init(struct atoll_workspace *workspace, void *memory, uint32_t size);

/* Point `*block` at `size` aligned bytes. On an error nothing changes. */
int32_t atoll_workspace_allocate(struct atoll_workspace *workspace, uint32_t size, void **block);

/* Give back the latest block; any other is refused with ATOLL_ERROR_ORDER and nothing changes. */
int32_t atoll_workspace_free(struct atoll_workspace *workspace, const void *block);

#ifdef __cplusplus
}
#endif

#endif
