/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * What the serial protocol has to know of the chip and its networks.
 */
#include "tiny.h"

#include "atoll_devices.h"
#include "atoll_serial.h"
#include "atoll_status.h"

static int32_t run_tiny(void) {
  static const struct tiny_inputs inputs = {
      .image = TINY_INPUT_IMAGE_BUFFER
  };
  static const struct tiny_outputs outputs = {
      .scores = TINY_OUTPUT_SCORES_BUFFER,
      .boxes = TINY_OUTPUT_BOXES_BUFFER
  };
  return tiny_run(&inputs, &outputs);
}

/* SHA-256 of the networks' machine code; a host reads it in the image, too. */
extern const char atoll_serial_build[65];
const char atoll_serial_build[65] = "<sum>";

const char *atoll_serial_name(uint32_t index) {
  switch (index) {
    case 0:
      return "rp2040";
    case 1:
      return atoll_serial_build;
    case 2:
      return "tiny";
    default:
      return 0;
  }
}

volatile uint8_t *atoll_serial_input(uint32_t network, uint32_t port, uint32_t *size) {
  switch (network << 16 | port) {
    case 0x00000000u:
      *size = TINY_INPUT_IMAGE_SIZE;
      return (volatile uint8_t *)TINY_INPUT_IMAGE_BUFFER;
    default:
      return 0;
  }
}

volatile uint8_t *atoll_serial_output(uint32_t network, uint32_t port, uint32_t *size) {
  switch (network << 16 | port) {
    case 0x00000000u:
      *size = TINY_OUTPUT_SCORES_SIZE;
      return (volatile uint8_t *)TINY_OUTPUT_SCORES_BUFFER;
    case 0x00000001u:
      *size = TINY_OUTPUT_BOXES_SIZE;
      return (volatile uint8_t *)TINY_OUTPUT_BOXES_BUFFER;
    default:
      return 0;
  }
}

int32_t atoll_serial_run(uint32_t network) {
  switch (network) {
    case 0:
      return run_tiny();
    default:
      return ATOLL_ERROR_ARGUMENT;
  }
}

void atoll_serial_reset(void) {
}

extern const uint32_t atoll_stack_limit[], atoll_stack_top[];

const uint32_t *atoll_serial_stack(uint32_t index, const uint32_t **top) {
  switch (index) {
    case 0:
      *top = atoll_stack_top;
      return atoll_stack_limit;
    default:
      return 0;
  }
}
