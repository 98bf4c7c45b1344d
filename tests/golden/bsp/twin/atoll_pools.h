/* Made from twin.yaml by `atoll build`; edits are lost.
 *
 * The pools of 'twin': where buffers live.
 */
#ifndef ATOLL_POOLS_H
#define ATOLL_POOLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cpu_local: workspace in cpu_tcm. */
#define ATOLL_POOL_CPU_LOCAL_ORIGIN UINT32_C(0x10003000)
#define ATOLL_POOL_CPU_LOCAL_SIZE UINT32_C(20480)
#define ATOLL_POOL_CPU_LOCAL_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_cpu_local[ATOLL_POOL_CPU_LOCAL_SIZE];

/* dsp_local: workspace in dsp_tcm. */
#define ATOLL_POOL_DSP_LOCAL_ORIGIN UINT32_C(0x11003000)
#define ATOLL_POOL_DSP_LOCAL_SIZE UINT32_C(20480)
#define ATOLL_POOL_DSP_LOCAL_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_dsp_local[ATOLL_POOL_DSP_LOCAL_SIZE];

/* large_local: workspace in large_sram. */
#define ATOLL_POOL_LARGE_LOCAL_ORIGIN UINT32_C(0x30000000)
#define ATOLL_POOL_LARGE_LOCAL_SIZE UINT32_C(131072)
#define ATOLL_POOL_LARGE_LOCAL_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_large_local[ATOLL_POOL_LARGE_LOCAL_SIZE];

/* small_local: workspace in small_sram. */
#define ATOLL_POOL_SMALL_LOCAL_ORIGIN UINT32_C(0x34000000)
#define ATOLL_POOL_SMALL_LOCAL_SIZE UINT32_C(65536)
#define ATOLL_POOL_SMALL_LOCAL_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_small_local[ATOLL_POOL_SMALL_LOCAL_SIZE];

/* weights: constants in flash. */
#define ATOLL_POOL_WEIGHTS_ORIGIN UINT32_C(0x00028000)
#define ATOLL_POOL_WEIGHTS_SIZE UINT32_C(884736)
#define ATOLL_POOL_WEIGHTS_ALIGNMENT UINT32_C(16)
extern const uint8_t atoll_pool_weights[ATOLL_POOL_WEIGHTS_SIZE];

/* shared: workspace in sram. */
#define ATOLL_POOL_SHARED_ORIGIN UINT32_C(0x20000000)
#define ATOLL_POOL_SHARED_SIZE UINT32_C(131072)
#define ATOLL_POOL_SHARED_ALIGNMENT UINT32_C(16)
extern uint8_t atoll_pool_shared[ATOLL_POOL_SHARED_SIZE];

#ifdef __cplusplus
}
#endif

#endif
