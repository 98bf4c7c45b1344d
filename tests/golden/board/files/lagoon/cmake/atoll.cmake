# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# atoll_image(<core> [<source>...]) makes the image of a core from its generated sources, the
# objects of its networks and the sources given. A core that the chosen toolchain does not serve is
# left to a build with another preset.

get_filename_component(ATOLL_BSP "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(ATOLL_PAINT_STACKS "Start-up code paints stacks, to see how far they were used" OFF)
include("${ATOLL_BSP}/freertos/atoll_freertos.cmake" OPTIONAL)

set(ATOLL_cpu_IMAGE firmware.elf)
set(ATOLL_cpu_SCRIPT "${ATOLL_BSP}/linker/lagoon.ld")
set(ATOLL_cpu_SOURCES
  "${ATOLL_BSP}/src/atoll_devices.c"
  "${ATOLL_BSP}/src/command_list.c"
  "${ATOLL_BSP}/src/memory.c"
  "${ATOLL_BSP}/src/picorv32.S"
  "${ATOLL_BSP}/src/startup.S"
  "${ATOLL_BSP}/src/status.c"
  "${ATOLL_BSP}/src/workspace.c"
)
set(ATOLL_cpu_OBJECTS
  "${ATOLL_BSP}/models/cpu/tiny.o"
)
if(ATOLL_TOOLCHAIN STREQUAL "riscv64-unknown-elf-gcc")
  set(ATOLL_cpu_COMPILE "SHELL:-march=rv32imc_zicsr -mabi=ilp32 -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror -fno-tree-loop-distribute-patterns")
  set(ATOLL_cpu_LINK "SHELL:-march=rv32imc -mabi=ilp32 -nostdlib -nostartfiles -static -Wl,-e,atoll_reset,-z,max-page-size=4,--gc-sections,--orphan-handling=error,--build-id=none,-n,--no-warn-rwx-segments,-z,noexecstack")
  set(ATOLL_cpu_LIBRARIES -lgcc)
elseif(ATOLL_TOOLCHAIN STREQUAL "zig")
  set(ATOLL_cpu_COMPILE "SHELL:-target riscv32-freestanding-none -mcpu=generic_rv32+m+c -mabi=ilp32 -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror")
  set(ATOLL_cpu_LINK "SHELL:-m elf32lriscv -e atoll_reset -z max-page-size=4 --gc-sections --orphan-handling=error --build-id=none")
  set(ATOLL_cpu_LIBRARIES "${ATOLL_BSP}/lib/cpu/compiler_rt.o")
elseif(ATOLL_TOOLCHAIN STREQUAL "clang")
  set(ATOLL_cpu_COMPILE "SHELL:--target=riscv32-unknown-none-elf -march=rv32imc -mabi=ilp32 -mno-relax -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror")
  set(ATOLL_cpu_LINK "SHELL:-m elf32lriscv -e atoll_reset -z max-page-size=4 --gc-sections --orphan-handling=error --build-id=none")
  set(ATOLL_cpu_LIBRARIES "${ATOLL_BSP}/lib/cpu/compiler_rt.o")
endif()

function(atoll_image core)
  if(NOT DEFINED ATOLL_${core}_COMPILE)
    message(STATUS "Atoll: ${ATOLL_TOOLCHAIN} does not compile for '${core}'; use another preset")
    return()
  endif()
  add_executable(${core} ${ARGN} ${ATOLL_${core}_SOURCES} ${ATOLL_${core}_OBJECTS})
  set_target_properties(${core} PROPERTIES OUTPUT_NAME ${ATOLL_${core}_IMAGE} SUFFIX ""
    LINK_DEPENDS "${ATOLL_${core}_SCRIPT}")
  set_source_files_properties(${ATOLL_${core}_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_include_directories(${core} PRIVATE "${ATOLL_BSP}/include")
  target_compile_options(${core} PRIVATE ${ATOLL_${core}_COMPILE})
  if(NOT ATOLL_PAINT_STACKS)
    target_compile_definitions(${core} PRIVATE ATOLL_STACKS_UNPAINTED)
  endif()
  target_link_options(${core} PRIVATE ${ATOLL_${core}_LINK} -T "${ATOLL_${core}_SCRIPT}")
  target_link_libraries(${core} PRIVATE ${ATOLL_${core}_LIBRARIES})
  if(COMMAND atoll_freertos)
    atoll_freertos(${core})
  endif()
endfunction()

# The images of the self-test. ATOLL_SELFTEST_STEP is how many words a march goes on from one to the
# next: 1 tries each word, a larger odd number is quicker in a simulation.
set(ATOLL_SELFTEST_STEP 1 CACHE STRING "Words from one that a march touches to the next")
# Where the board's text and firewalls are met: your sources beside main.c.
set(ATOLL_SELFTEST_BOARD "${ATOLL_BSP}/app/board.c" "${ATOLL_BSP}/app/guard.c" CACHE STRING
  "Sources of the board")

if(DEFINED ATOLL_cpu_COMPILE)
  add_executable(cpu.selftest
    ${ATOLL_SELFTEST_BOARD}
    "${ATOLL_BSP}/src/atoll_devices.c"
    "${ATOLL_BSP}/src/command_list.c"
    "${ATOLL_BSP}/src/memory.c"
    "${ATOLL_BSP}/src/picorv32.S"
    "${ATOLL_BSP}/src/startup.S"
    "${ATOLL_BSP}/src/status.c"
    "${ATOLL_BSP}/src/workspace.c"
    "${ATOLL_BSP}/selftest/main.c"
    "${ATOLL_BSP}/selftest/constants.c"
    "${ATOLL_BSP}/selftest/core.c"
    "${ATOLL_BSP}/selftest/probe_plain.c"
    ${ATOLL_cpu_OBJECTS})
  set_target_properties(cpu.selftest PROPERTIES OUTPUT_NAME firmware.selftest.elf SUFFIX ""
    LINK_DEPENDS "${ATOLL_BSP}/selftest/selftest.ld")
  set_source_files_properties(${ATOLL_cpu_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_include_directories(cpu.selftest PRIVATE "${ATOLL_BSP}/include")
  target_compile_definitions(cpu.selftest PRIVATE
    ATOLL_SELFTEST_STEP=${ATOLL_SELFTEST_STEP}u)
  target_compile_options(cpu.selftest PRIVATE ${ATOLL_cpu_COMPILE})
  target_link_options(cpu.selftest PRIVATE ${ATOLL_cpu_LINK}
    -T "${ATOLL_BSP}/selftest/selftest.ld")
  target_link_libraries(cpu.selftest PRIVATE ${ATOLL_cpu_LIBRARIES})
endif()

# The image that serves `atoll run-image --serial`; its start-up code paints the stacks.
set(ATOLL_SERIAL_BOARD "${ATOLL_BSP}/app/serial.c" "${ATOLL_BSP}/app/guard.c" CACHE STRING
  "Sources of the board for the serial protocol")
if(DEFINED ATOLL_cpu_COMPILE)
  add_executable(cpu.serial ${ATOLL_SERIAL_BOARD}
    "${ATOLL_BSP}/src/atoll_devices.c"
    "${ATOLL_BSP}/src/command_list.c"
    "${ATOLL_BSP}/src/memory.c"
    "${ATOLL_BSP}/src/picorv32.S"
    "${ATOLL_BSP}/src/startup.S"
    "${ATOLL_BSP}/src/status.c"
    "${ATOLL_BSP}/src/workspace.c"
    "${ATOLL_BSP}/serial/main.c"
    "${ATOLL_BSP}/serial/protocol.c"
    "${ATOLL_BSP}/serial/networks.c"
    ${ATOLL_cpu_OBJECTS})
  set_target_properties(cpu.serial PROPERTIES OUTPUT_NAME firmware.serial.elf SUFFIX ""
    LINK_DEPENDS "${ATOLL_cpu_SCRIPT}")
  set_source_files_properties(${ATOLL_cpu_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_include_directories(cpu.serial PRIVATE "${ATOLL_BSP}/include")
  target_compile_options(cpu.serial PRIVATE ${ATOLL_cpu_COMPILE})
  target_link_options(cpu.serial PRIVATE ${ATOLL_cpu_LINK}
    -T "${ATOLL_cpu_SCRIPT}")
  target_link_libraries(cpu.serial PRIVATE ${ATOLL_cpu_LIBRARIES})
endif()
