/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The tasks of 'core0', and what drivers need of the kernel: a task that waits for a device sleeps until
 * its interrupt comes, and others run meanwhile.
 */
#include "FreeRTOS.h"
#include "task.h"

#include "atoll_runtime.h"

enum { LINES = 32, CYCLES_OF_A_TICK = configCPU_CLOCK_HZ / configTICK_RATE_HZ };

/* The waiting of the start-up code, before the kernel runs. */
int32_t atoll_wait_asleep(uint32_t line, uint32_t cycles);

void atoll_freertos_vectors(void);
void atoll_freertos_raised(uint32_t line);

static TaskHandle_t waiting[LINES];

void atoll_task_networks(void *argument);
static StaticTask_t task_networks;
static StackType_t stack_networks[512] __attribute__((aligned(16)));

static volatile uint32_t *nvic(uint32_t offset) {
  return (volatile uint32_t *)(uintptr_t)(UINT32_C(0xE000E000) + offset);
}

static void disable(uint32_t line) {
  *nvic(0x180u) = UINT32_C(1) << line;
}

/* What the line was pending for is over; one that is high pends anew. It may call the kernel. */
static void enable(uint32_t line) {
  *nvic(0x280u) = UINT32_C(1) << line;
  *nvic(0x100u) = UINT32_C(1) << line;
}

/* The line stays high until its device is served: keep it from coming again. */
void atoll_freertos_raised(uint32_t line) {
  BaseType_t woken = pdFALSE;
  disable(line);
  if (waiting[line] != NULL) vTaskNotifyGiveFromISR(waiting[line], &woken);
  portYIELD_FROM_ISR(woken);
}

int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles) {
  if (xTaskGetSchedulerState() != taskSCHEDULER_RUNNING) return atoll_wait_asleep(line, cycles);
  if (line >= LINES) {
    vTaskDelay(cycles / CYCLES_OF_A_TICK);
    /* Who waits for an event, not for time, is told if none has passed: other tasks had their turn. */
    return line > ATOLL_NO_LINE && cycles < CYCLES_OF_A_TICK;
  }
  waiting[line] = xTaskGetCurrentTaskHandle();
  (void)ulTaskNotifyTake(pdTRUE, 0);
  enable(line);
  const uint32_t given = ulTaskNotifyTake(pdTRUE, cycles / CYCLES_OF_A_TICK + 1u);
  disable(line);
  waiting[line] = NULL;
  return given != 0u;
}

void atoll_freertos_failed(const char *file, int line) {
  taskDISABLE_INTERRUPTS();
  atoll_print(file);
  atoll_print(":");
  atoll_print_decimal(line);
  atoll_print(": the kernel's assertion failed\n");
  atoll_exit(1);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
void vApplicationStackOverflowHook(TaskHandle_t task, char *name) {
  (void)task;
  taskDISABLE_INTERRUPTS();
  atoll_print(name);
  atoll_print(": the task's stack overflowed\n");
  atoll_exit(1);
}

int main(void) {
  atoll_freertos_vectors();
  (void)xTaskCreateStatic(atoll_task_networks, "networks", 512, NULL, tskIDLE_PRIORITY + 1,
                          stack_networks, &task_networks);
  vTaskStartScheduler();
  return 1;
}
