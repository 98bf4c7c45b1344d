# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(ATOLL_TOOLCHAIN clang)
set(CMAKE_C_COMPILER clang)
set(CMAKE_ASM_COMPILER clang)
find_program(ATOLL_LLD ld.lld REQUIRED)
set(CMAKE_C_LINK_EXECUTABLE "${ATOLL_LLD} <LINK_FLAGS> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
set(CMAKE_ASM_LINK_EXECUTABLE "${CMAKE_C_LINK_EXECUTABLE}")
