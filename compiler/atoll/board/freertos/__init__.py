"""The networks as tasks of FreeRTOS: its configuration, and what joins it to the chip."""
