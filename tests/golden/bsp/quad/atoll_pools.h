/* Made from quad.yaml by `atoll build`; edits are lost.
 *
 * The pools of 'quad': where buffers live.
 */
#ifndef ATOLL_POOLS_H
#define ATOLL_POOLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* local0: workspace in tcm0. */
#define ATOLL_POOL_LOCAL0_ORIGIN UINT32_C(0x10003000)
#define ATOLL_POOL_LOCAL0_SIZE UINT32_C(20480)
#define ATOLL_POOL_LOCAL0_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_local0[ATOLL_POOL_LOCAL0_SIZE];

/* local1: workspace in tcm1. */
#define ATOLL_POOL_LOCAL1_ORIGIN UINT32_C(0x11003000)
#define ATOLL_POOL_LOCAL1_SIZE UINT32_C(20480)
#define ATOLL_POOL_LOCAL1_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_local1[ATOLL_POOL_LOCAL1_SIZE];

/* local2: workspace in tcm2. */
#define ATOLL_POOL_LOCAL2_ORIGIN UINT32_C(0x12003000)
#define ATOLL_POOL_LOCAL2_SIZE UINT32_C(20480)
#define ATOLL_POOL_LOCAL2_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_local2[ATOLL_POOL_LOCAL2_SIZE];

/* local3: workspace in tcm3. */
#define ATOLL_POOL_LOCAL3_ORIGIN UINT32_C(0x13003000)
#define ATOLL_POOL_LOCAL3_SIZE UINT32_C(20480)
#define ATOLL_POOL_LOCAL3_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_local3[ATOLL_POOL_LOCAL3_SIZE];

/* weights: constants in flash. */
#define ATOLL_POOL_WEIGHTS_ORIGIN UINT32_C(0x00048000)
#define ATOLL_POOL_WEIGHTS_SIZE UINT32_C(753664)
#define ATOLL_POOL_WEIGHTS_ALIGNMENT UINT32_C(16)
extern const uint8_t atoll_pool_weights[ATOLL_POOL_WEIGHTS_SIZE];

/* shared: workspace in sram. */
#define ATOLL_POOL_SHARED_ORIGIN UINT32_C(0x20000000)
#define ATOLL_POOL_SHARED_SIZE UINT32_C(262144)
#define ATOLL_POOL_SHARED_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_shared[ATOLL_POOL_SHARED_SIZE];

#ifdef __cplusplus
}
#endif

#endif
