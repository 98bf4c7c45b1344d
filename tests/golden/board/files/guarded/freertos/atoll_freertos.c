/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The tasks of 'cpu', and what drivers need of the kernel: a task that waits for a device sleeps until
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

/* Bit of mie and mip of a device's line. */
enum { FIRST_BIT = 14 };

static void disable(uint32_t line) {
  __asm__ volatile("csrc mie, %0" : : "r"(UINT32_C(1) << (line + FIRST_BIT)));
}

static void enable(uint32_t line) {
  __asm__ volatile("csrs mie, %0" : : "r"(UINT32_C(1) << (line + FIRST_BIT)));
}

/* Called by the port, for every interrupt but the timer's. */
void freertos_risc_v_application_interrupt_handler(uint32_t cause);
void freertos_risc_v_application_interrupt_handler(uint32_t cause) {
  atoll_freertos_raised((cause & UINT32_C(31)) - FIRST_BIT);
}

/* Called by the port: the core stands still, and says why. */
void freertos_risc_v_application_exception_handler(uint32_t cause);
void freertos_risc_v_application_exception_handler(uint32_t cause) {
  atoll_write(UINT32_C(0x0200C000), cause);
  for (;;) {
  }
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
