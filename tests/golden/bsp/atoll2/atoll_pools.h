/* Made from atoll2.yaml by `atoll build`; edits are lost.
 *
 * The pools of 'atoll2': where buffers live.
 */
#ifndef ATOLL_POOLS_H
#define ATOLL_POOLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* conv_private: workspace in conv_sram. */
#define ATOLL_POOL_CONV_PRIVATE_ORIGIN UINT32_C(0x30000000)
#define ATOLL_POOL_CONV_PRIVATE_SIZE UINT32_C(65536)
#define ATOLL_POOL_CONV_PRIVATE_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_conv_private[ATOLL_POOL_CONV_PRIVATE_SIZE];

/* dw_private: workspace in dw_sram. */
#define ATOLL_POOL_DW_PRIVATE_ORIGIN UINT32_C(0x34000000)
#define ATOLL_POOL_DW_PRIVATE_SIZE UINT32_C(49152)
#define ATOLL_POOL_DW_PRIVATE_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_dw_private[ATOLL_POOL_DW_PRIVATE_SIZE];

/* weights: constants in rom. */
#define ATOLL_POOL_WEIGHTS_ORIGIN UINT32_C(0x08010000)
#define ATOLL_POOL_WEIGHTS_SIZE UINT32_C(458752)
#define ATOLL_POOL_WEIGHTS_ALIGNMENT UINT32_C(16)
extern const uint8_t atoll_pool_weights[ATOLL_POOL_WEIGHTS_SIZE];

/* shared: workspace in sram. */
#define ATOLL_POOL_SHARED_ORIGIN UINT32_C(0x60000000)
#define ATOLL_POOL_SHARED_SIZE UINT32_C(196608)
#define ATOLL_POOL_SHARED_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_shared[ATOLL_POOL_SHARED_SIZE];

#ifdef __cplusplus
}
#endif

#endif
