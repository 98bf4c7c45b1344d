/* SPDX-License-Identifier: Apache-2.0 */
/* An application that owns every byte that a network works on.
 *
 * It takes the place of app/main.c of a package that `atoll bsp` wrote: see README.md.
 */
#include "digits_int8.h"
#include "digits_int8_example.h"
#include "digits_int8_parameters.h"

#include "atoll_devices.h"
#include "atoll_runtime.h"

#define IN(name) __attribute__((section(name), aligned(64)))

/* Parameters: what the network has learned. */
static const uint8_t parameters_itcm[DIGITS_INT8_NEAR_CONSTANTS_SIZE] IN("ITCM") = DIGITS_INT8_NEAR_CONSTANTS;
static const uint8_t parameters_flash[DIGITS_INT8_FAR_CONSTANTS_SIZE] IN("FLASH") = DIGITS_INT8_FAR_CONSTANTS;

/* Workspaces: what a run writes. Between two runs their bytes are the application's own. */
static uint8_t workspace_dtcm[DIGITS_INT8_FAST_WORKSPACE_SIZE] IN("DTCM");
static uint8_t workspace_sram[DIGITS_INT8_SHARED_WORKSPACE_SIZE] IN("SRAM");

static int8_t scores[DIGITS_INT8_OUTPUT_SOFTMAX_9_OUT_SIZE];

static int32_t classify(const int8_t *image) {
  const struct digits_int8_inputs inputs = {.image = image};
  const struct digits_int8_outputs outputs = {.softmax_9_out = scores};
  const struct digits_int8_pools workspaces = {.fast = DIGITS_INT8_FAST_WORKSPACE(workspace_dtcm),
                                               .shared = DIGITS_INT8_SHARED_WORKSPACE(workspace_sram)};
  const struct digits_int8_parameters parameters = {.near = parameters_itcm, .far = parameters_flash};
  const struct digits_int8_devices devices = {.npu = ATOLL_DEVICE_NPU};
  return digits_int8_run(&inputs, &outputs, &workspaces, &parameters, &devices);
}

int main(void) {
  int32_t best = 0, wrong = 0;
  int32_t status = atoll_devices_start();
  if (status == ATOLL_OK) status = classify((const int8_t *)digits_int8_input_image);
  if (status != ATOLL_OK) {
    atoll_print(atoll_status_text(status));
    atoll_print("\n");
    return 1;
  }
  for (uint32_t i = 0; i < sizeof scores; i++) {
    if (scores[i] > scores[best]) best = (int32_t)i;
    wrong += scores[i] != (int8_t)digits_int8_output_softmax_9_out[i];
  }
  atoll_print("a ");
  atoll_print_decimal(best);
  atoll_print(wrong == 0 ? ", as the reference says\n" : ", and the reference says another thing\n");
  return atoll_devices_stop() == ATOLL_OK ? wrong != 0 : 1;
}
