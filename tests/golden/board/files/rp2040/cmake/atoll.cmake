# Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# atoll_image(<core> [<source>...]) makes the image of a core from its generated sources, the
# objects of its networks and the sources given. A core that the chosen toolchain does not serve is
# left to a build with another preset.

get_filename_component(ATOLL_BSP "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(ATOLL_PAINT_STACKS "Start-up code paints stacks, to see how far they were used" OFF)
include("${ATOLL_BSP}/freertos/atoll_freertos.cmake" OPTIONAL)

set(ATOLL_core0_IMAGE firmware.elf)
set(ATOLL_core0_SCRIPT "${ATOLL_BSP}/linker/rp2040.ld")
set(ATOLL_core0_SOURCES
  "${ATOLL_BSP}/src/atoll_devices.c"
  "${ATOLL_BSP}/src/cortex_m0plus.S"
  "${ATOLL_BSP}/src/memory.c"
  "${ATOLL_BSP}/src/shared_mailbox.c"
  "${ATOLL_BSP}/src/startup.S"
  "${ATOLL_BSP}/src/status.c"
  "${ATOLL_BSP}/src/workspace.c"
)
set(ATOLL_core0_OBJECTS
  "${ATOLL_BSP}/models/core0/tiny.o"
)
if(ATOLL_TOOLCHAIN STREQUAL "arm-none-eabi-gcc")
  set(ATOLL_core0_COMPILE "SHELL:-mthumb -march=armv6-m -mfloat-abi=soft -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror -fno-tree-loop-distribute-patterns")
  set(ATOLL_core0_LINK "SHELL:-mthumb -march=armv6-m -mfloat-abi=soft -nostdlib -nostartfiles -static -Wl,-e,atoll_reset,-z,max-page-size=4,--gc-sections,--orphan-handling=error,--build-id=none,-n,--no-warn-rwx-segments,-z,noexecstack")
  set(ATOLL_core0_LIBRARIES -lgcc)
elseif(ATOLL_TOOLCHAIN STREQUAL "zig")
  set(ATOLL_core0_COMPILE "SHELL:-target thumb-freestanding-eabi -mcpu=cortex_m0plus-dsp-mve-vfp2sp-fp64 -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror")
  set(ATOLL_core0_LINK "SHELL:-m armelf -e atoll_reset -z max-page-size=4 --gc-sections --orphan-handling=error --build-id=none")
  set(ATOLL_core0_LIBRARIES "${ATOLL_BSP}/lib/core0/compiler_rt.o")
elseif(ATOLL_TOOLCHAIN STREQUAL "clang")
  set(ATOLL_core0_COMPILE "SHELL:--target=thumbv6m-unknown-none-eabi -mthumb -mfloat-abi=soft -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror")
  set(ATOLL_core0_LINK "SHELL:-m armelf -e atoll_reset -z max-page-size=4 --gc-sections --orphan-handling=error --build-id=none")
  set(ATOLL_core0_LIBRARIES "${ATOLL_BSP}/lib/core0/compiler_rt.o")
endif()

set(ATOLL_core1_IMAGE core1.elf)
set(ATOLL_core1_SCRIPT "${ATOLL_BSP}/linker/rp2040_core1.ld")
set(ATOLL_core1_SOURCES
  "${ATOLL_BSP}/src/cortex_m0plus.S"
  "${ATOLL_BSP}/src/main_core1.c"
  "${ATOLL_BSP}/src/memory.c"
  "${ATOLL_BSP}/src/startup_core1.S"
)
set(ATOLL_core1_OBJECTS
  "${ATOLL_BSP}/models/core1/tiny.o"
)
if(ATOLL_TOOLCHAIN STREQUAL "arm-none-eabi-gcc")
  set(ATOLL_core1_COMPILE "SHELL:-mthumb -march=armv6-m -mfloat-abi=soft -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror -fno-tree-loop-distribute-patterns")
  set(ATOLL_core1_LINK "SHELL:-mthumb -march=armv6-m -mfloat-abi=soft -nostdlib -nostartfiles -static -Wl,-e,atoll_reset,-z,max-page-size=4,--gc-sections,--orphan-handling=error,--build-id=none,-n,--no-warn-rwx-segments,-z,noexecstack")
  set(ATOLL_core1_LIBRARIES -lgcc)
elseif(ATOLL_TOOLCHAIN STREQUAL "zig")
  set(ATOLL_core1_COMPILE "SHELL:-target thumb-freestanding-eabi -mcpu=cortex_m0plus-dsp-mve-vfp2sp-fp64 -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror")
  set(ATOLL_core1_LINK "SHELL:-m armelf -e atoll_reset -z max-page-size=4 --gc-sections --orphan-handling=error --build-id=none")
  set(ATOLL_core1_LIBRARIES "${ATOLL_BSP}/lib/core1/compiler_rt.o")
elseif(ATOLL_TOOLCHAIN STREQUAL "clang")
  set(ATOLL_core1_COMPILE "SHELL:--target=thumbv6m-unknown-none-eabi -mthumb -mfloat-abi=soft -std=c99 -O2 -ffreestanding -fno-builtin -fomit-frame-pointer -fno-jump-tables -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -g0 -Wall -Wextra -Werror")
  set(ATOLL_core1_LINK "SHELL:-m armelf -e atoll_reset -z max-page-size=4 --gc-sections --orphan-handling=error --build-id=none")
  set(ATOLL_core1_LIBRARIES "${ATOLL_BSP}/lib/core1/compiler_rt.o")
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

if(DEFINED ATOLL_core0_COMPILE)
  add_executable(core0.selftest
    ${ATOLL_SELFTEST_BOARD}
    "${ATOLL_BSP}/src/atoll_devices.c"
    "${ATOLL_BSP}/src/cortex_m0plus.S"
    "${ATOLL_BSP}/src/memory.c"
    "${ATOLL_BSP}/src/shared_mailbox.c"
    "${ATOLL_BSP}/src/startup.S"
    "${ATOLL_BSP}/src/status.c"
    "${ATOLL_BSP}/src/workspace.c"
    "${ATOLL_BSP}/selftest/main.c"
    "${ATOLL_BSP}/selftest/constants.c"
    "${ATOLL_BSP}/selftest/core.c"
    "${ATOLL_BSP}/selftest/probe_thumb.S"
    ${ATOLL_core0_OBJECTS})
  set_target_properties(core0.selftest PROPERTIES OUTPUT_NAME firmware.selftest.elf SUFFIX ""
    LINK_DEPENDS "${ATOLL_BSP}/selftest/selftest.ld")
  set_source_files_properties(${ATOLL_core0_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_include_directories(core0.selftest PRIVATE "${ATOLL_BSP}/include")
  target_compile_definitions(core0.selftest PRIVATE
    ATOLL_SELFTEST_STEP=${ATOLL_SELFTEST_STEP}u)
  target_compile_options(core0.selftest PRIVATE ${ATOLL_core0_COMPILE})
  target_link_options(core0.selftest PRIVATE ${ATOLL_core0_LINK}
    -T "${ATOLL_BSP}/selftest/selftest.ld")
  target_link_libraries(core0.selftest PRIVATE ${ATOLL_core0_LIBRARIES})
endif()

if(DEFINED ATOLL_core1_COMPILE)
  add_executable(core1.selftest
    "${ATOLL_BSP}/src/cortex_m0plus.S"
    "${ATOLL_BSP}/src/memory.c"
    "${ATOLL_BSP}/src/startup_core1.S"
    "${ATOLL_BSP}/selftest/main_core1.c"
    "${ATOLL_BSP}/selftest/core.c"
    "${ATOLL_BSP}/selftest/probe_thumb.S"
    ${ATOLL_core1_OBJECTS})
  set_target_properties(core1.selftest PROPERTIES OUTPUT_NAME core1.selftest.elf SUFFIX ""
    LINK_DEPENDS "${ATOLL_BSP}/linker/rp2040_core1.ld")
  set_source_files_properties(${ATOLL_core1_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_include_directories(core1.selftest PRIVATE "${ATOLL_BSP}/include")
  target_compile_definitions(core1.selftest PRIVATE
    ATOLL_SELFTEST_STEP=${ATOLL_SELFTEST_STEP}u)
  target_compile_options(core1.selftest PRIVATE ${ATOLL_core1_COMPILE})
  target_link_options(core1.selftest PRIVATE ${ATOLL_core1_LINK}
    -T "${ATOLL_BSP}/linker/rp2040_core1.ld")
  target_link_libraries(core1.selftest PRIVATE ${ATOLL_core1_LIBRARIES})
endif()

# The image that serves `atoll run-image --serial`; its start-up code paints the stacks.
set(ATOLL_SERIAL_BOARD "${ATOLL_BSP}/app/serial.c" "${ATOLL_BSP}/app/guard.c" CACHE STRING
  "Sources of the board for the serial protocol")
if(DEFINED ATOLL_core0_COMPILE)
  add_executable(core0.serial ${ATOLL_SERIAL_BOARD}
    "${ATOLL_BSP}/src/atoll_devices.c"
    "${ATOLL_BSP}/src/cortex_m0plus.S"
    "${ATOLL_BSP}/src/memory.c"
    "${ATOLL_BSP}/src/shared_mailbox.c"
    "${ATOLL_BSP}/src/startup.S"
    "${ATOLL_BSP}/src/status.c"
    "${ATOLL_BSP}/src/workspace.c"
    "${ATOLL_BSP}/serial/main.c"
    "${ATOLL_BSP}/serial/protocol.c"
    "${ATOLL_BSP}/serial/networks.c"
    ${ATOLL_core0_OBJECTS})
  set_target_properties(core0.serial PROPERTIES OUTPUT_NAME firmware.serial.elf SUFFIX ""
    LINK_DEPENDS "${ATOLL_core0_SCRIPT}")
  set_source_files_properties(${ATOLL_core0_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
  target_include_directories(core0.serial PRIVATE "${ATOLL_BSP}/include")
  target_compile_options(core0.serial PRIVATE ${ATOLL_core0_COMPILE})
  target_link_options(core0.serial PRIVATE ${ATOLL_core0_LINK}
    -T "${ATOLL_core0_SCRIPT}")
  target_link_libraries(core0.serial PRIVATE ${ATOLL_core0_LIBRARIES})
endif()
