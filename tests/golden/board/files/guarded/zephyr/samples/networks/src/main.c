/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`, once: this file is yours.
 *
 * Zephyr's main thread runs the package's application once.
 */
#include "atoll_runtime.h"

int atoll_application(void);

int main(void) {
  atoll_exit(atoll_application());
  return 0;
}
