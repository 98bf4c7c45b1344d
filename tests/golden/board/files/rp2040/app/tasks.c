/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`, once: this file is yours.
 *
 * What each task does. The kernel is started by freertos/atoll_freertos.c; none may return.
 */
#include "FreeRTOS.h"
#include "task.h"

#include "atoll_runtime.h"

void atoll_task_networks(void *argument);

/* main of app/main.c, which runs the networks. */
int atoll_application(void);

void atoll_task_networks(void *argument) {
  (void)argument;
  atoll_exit(atoll_application());
}
