/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The FreeRTOS kernel on 'core0': port ARM_CM0. All memory is static.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 125000000ul
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS

#define configUSE_PREEMPTION 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configMAX_PRIORITIES 3
#define configMAX_TASK_NAME_LEN 16

/* Words: of the idle task, and at least of every other. */
#define configMINIMAL_STACK_SIZE 128

#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configCHECK_FOR_STACK_OVERFLOW 2

#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetSchedulerState 1

/* The port's handlers have the names of CMSIS. */
#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler
#define configENABLE_MPU 0

#ifndef __ASSEMBLER__
void atoll_freertos_failed(const char *file, int line);
#define configASSERT(condition) \
  do { \
    if (!(condition)) atoll_freertos_failed(__FILE__, __LINE__); \
  } while (0)
#endif

#endif
