/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * What drivers need of Zephyr: a thread that waits for a device sleeps until its interrupt comes, and others
 * run meanwhile. What printk prints goes where atoll_print does.
 */
#include <string.h>

#include <zephyr/init.h>
#include <zephyr/irq.h>
#include <zephyr/kernel.h>
#ifdef CONFIG_PRINTK
#include <zephyr/sys/printk-hooks.h>
#endif

#include "atoll_runtime.h"

struct line {
  uint32_t number;
  unsigned int irq;
  struct k_sem pending;
};

/* Lines of the chip, and what Zephyr calls them. */
static struct line lines[] = {
    {.number = 3, .irq = 17}, /* npu */
};

/* The line stays high until its device is served: keep it from coming again. */
static void raised(const void *argument) {
  struct line *line = (struct line *)argument;
  irq_disable(line->irq);
  k_sem_give(&line->pending);
}

int32_t atoll_wait_interrupt(uint32_t number, uint32_t cycles) {
  const k_timeout_t most = K_TICKS(k_cyc_to_ticks_ceil32(cycles));
  for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
    struct line *line = &lines[i];
    if (line->number != number) continue;
    k_sem_reset(&line->pending);
    irq_enable(line->irq);
    const int missed = k_sem_take(&line->pending, most);
    irq_disable(line->irq);
    return missed == 0;
  }
  (void)k_sleep(most);
  return 0;
}
#ifdef CONFIG_PRINTK

static int put(int character) {
  const char text[] = {(char)character, '\0'};
  atoll_print(text);
  return character;
}
#endif

static int prepare(void) {
  k_sem_init(&lines[0].pending, 0, 1);
  IRQ_CONNECT(17, 0, raised, &lines[0], 0);
#ifdef CONFIG_PRINTK
  __printk_hook_install(put);
#endif
  return 0;
}

SYS_INIT(prepare, PRE_KERNEL_1, 0);
