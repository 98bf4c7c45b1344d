# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(ATOLL_TOOLCHAIN riscv64-unknown-elf-gcc)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
