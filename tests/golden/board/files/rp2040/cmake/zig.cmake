# Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# Zig is one program: the wheel `ziglang` installs it as `python-zig`.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(ATOLL_TOOLCHAIN zig)
find_program(ATOLL_ZIG NAMES zig python-zig REQUIRED)
set(CMAKE_C_COMPILER "${ATOLL_ZIG}" cc)
set(CMAKE_ASM_COMPILER "${ATOLL_ZIG}" cc)
set(CMAKE_C_COMPILER_WORKS TRUE)
# CMake links a program to learn the version: without this, Zig first builds the libraries of this machine.
set(CMAKE_C_FLAGS_INIT "-nostdlib")
set(CMAKE_ASM_COMPILER_ID Clang)
set(CMAKE_C_LINK_EXECUTABLE
  "${ATOLL_ZIG} ld.lld <LINK_FLAGS> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
set(CMAKE_ASM_LINK_EXECUTABLE "${CMAKE_C_LINK_EXECUTABLE}")
