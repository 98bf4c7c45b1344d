/* Made from lagoon.yaml by `atoll build`; edits are lost.
 *
 * The pools of 'lagoon': where buffers live.
 */
#ifndef ATOLL_POOLS_H
#define ATOLL_POOLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* private: workspace in dtcm. */
#define ATOLL_POOL_PRIVATE_ORIGIN UINT32_C(0x10003000)
#define ATOLL_POOL_PRIVATE_SIZE UINT32_C(49152)
#define ATOLL_POOL_PRIVATE_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_private[ATOLL_POOL_PRIVATE_SIZE];

/* shared: workspace in sram. */
#define ATOLL_POOL_SHARED_ORIGIN UINT32_C(0x20000000)
#define ATOLL_POOL_SHARED_SIZE UINT32_C(262144)
#define ATOLL_POOL_SHARED_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_shared[ATOLL_POOL_SHARED_SIZE];

/* weights: constants in flash. */
#define ATOLL_POOL_WEIGHTS_ORIGIN UINT32_C(0x00020000)
#define ATOLL_POOL_WEIGHTS_SIZE UINT32_C(917504)
#define ATOLL_POOL_WEIGHTS_ALIGNMENT UINT32_C(16)
extern const uint8_t atoll_pool_weights[ATOLL_POOL_WEIGHTS_SIZE];

#ifdef __cplusplus
}
#endif

#endif
