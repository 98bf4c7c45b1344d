/* Made from lagoon.yaml and tiny.tflite by `atoll build`; edits are lost.
 *
 * How an application calls the model 'tiny'.
 */
#ifndef TINY_H
#define TINY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* int8_t[1][8][8][1], real = SCALE * (value - ZERO_POINT) */
#define TINY_INPUT_IMAGE_SIZE UINT32_C(64)
#define TINY_INPUT_IMAGE_BUFFER ((int8_t *)(uintptr_t)UINT32_C(0x20000000))
#define TINY_INPUT_IMAGE_SCALE 0.10000000149011612f
#define TINY_INPUT_IMAGE_ZERO_POINT (-128)

/* int8_t */
#define TINY_OUTPUT_SCORES_SIZE UINT32_C(10)
#define TINY_OUTPUT_SCORES_BUFFER ((int8_t *)(uintptr_t)UINT32_C(0x20000040))

/* int32_t[4] */
#define TINY_OUTPUT_BOXES_SIZE UINT32_C(16)
#define TINY_OUTPUT_BOXES_BUFFER ((int32_t *)(uintptr_t)UINT32_C(0x20000050))

#define TINY_SHARED_WORKSPACE_SIZE UINT32_C(96)
#define TINY_SHARED_CONSTANTS_SIZE UINT32_C(0)

#define TINY_WEIGHTS_WORKSPACE_SIZE UINT32_C(0)
#define TINY_WEIGHTS_CONSTANTS_SIZE UINT32_C(96)

/* What a run reads; the plan put it at TINY_INPUT_..._BUFFER. */
struct tiny_inputs {
  const int8_t *image;
};

/* What a run writes; the plan put it at TINY_OUTPUT_..._BUFFER. */
struct tiny_outputs {
  int8_t *scores;
  int32_t *boxes;
};

/* Run once; returns 0 or a negative code of atoll_status.h. */
int32_t tiny_run(const struct tiny_inputs *inputs, const struct tiny_outputs *outputs);

#ifdef __cplusplus
}
#endif

#endif
