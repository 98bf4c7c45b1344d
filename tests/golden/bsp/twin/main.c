/* Made from twin.yaml and tiny.tflite by `atoll build`; edits are lost.
 *
 * The application: runs 'tiny' whenever the test bench asks for it.
 */
#include "tiny.h"

#include "atoll_devices.h"
#include "atoll_runtime.h"

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

/* Wait for the test bench; returns 0 when it wants no more. */
static int32_t wanted(void) {
  enum atoll_request request = ATOLL_REQUEST_NONE;
  atoll_trace_event(ATOLL_EVENT_READY);
  while (request == ATOLL_REQUEST_NONE) request = atoll_request();
  return request == ATOLL_REQUEST_RUN;
}

static void run(void) {
  atoll_trace_event(ATOLL_EVENT_RUN_BEGIN);
  atoll_watchdog_start();
  const int32_t status = run_tiny();
  atoll_result(status);
  atoll_trace_event(ATOLL_EVENT_RUN_END);
  atoll_watchdog_stop();
}

int main(void) {
  atoll_watchdog_report();
  const int32_t status = atoll_devices_start();
  if (status != ATOLL_OK) {
    atoll_print("cannot start: ");
    atoll_print(atoll_status_text(status));
    atoll_print("\n");
    return 1;
  }
  atoll_guard_start();
  while (wanted() != 0) run();
  return atoll_devices_stop() == ATOLL_OK ? 0 : 1;
}
