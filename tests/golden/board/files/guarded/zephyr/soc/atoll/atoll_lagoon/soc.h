/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md. */
#ifndef ATOLL_SOC_H
#define ATOLL_SOC_H

#ifdef CONFIG_ARM
#include <cmsis_core_m_defaults.h>
#endif

#endif
