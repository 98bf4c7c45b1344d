# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# With ATOLL_FREERTOS the image of 'cpu' has the FreeRTOS kernel of that folder, and app/main.c
# runs in a task; app/tasks.c has the tasks.

set(ATOLL_FREERTOS "" CACHE PATH "A folder with FreeRTOS-Kernel")

set(ATOLL_FREERTOS_OWN
  "${ATOLL_BSP}/freertos/atoll_freertos.c"
  "${ATOLL_BSP}/freertos/vectors_riscv.S"
  "${ATOLL_BSP}/app/tasks.c"
)
set(ATOLL_FREERTOS_KERNEL
  "${ATOLL_FREERTOS}/tasks.c"
  "${ATOLL_FREERTOS}/list.c"
  "${ATOLL_FREERTOS}/queue.c"
  "${ATOLL_FREERTOS}/portable/GCC/RISC-V/port.c"
  "${ATOLL_FREERTOS}/portable/GCC/RISC-V/portASM.S"
)

function(atoll_freertos core)
  if(NOT ATOLL_FREERTOS OR NOT core STREQUAL "cpu")
    return()
  endif()
  target_sources(${core} PRIVATE ${ATOLL_FREERTOS_OWN} ${ATOLL_FREERTOS_KERNEL})
  target_include_directories(${core} PRIVATE "${ATOLL_BSP}/freertos" "${ATOLL_FREERTOS}/include"
    "${ATOLL_FREERTOS}/portable/GCC/RISC-V"
    "${ATOLL_FREERTOS}/portable/GCC/RISC-V/chip_specific_extensions/RISCV_MTIME_CLINT_no_extensions"
  )
  # The kernel's warnings are its makers'; a compiler without a C library takes two headers from here.
  set(options -w -idirafter "${ATOLL_BSP}/freertos/libc")
  set_source_files_properties(${ATOLL_FREERTOS_KERNEL} PROPERTIES COMPILE_OPTIONS "${options}")
  set_source_files_properties(${ATOLL_FREERTOS_OWN} PROPERTIES COMPILE_OPTIONS
    "-idirafter;${ATOLL_BSP}/freertos/libc")
  set_source_files_properties(app/main.c "${ATOLL_BSP}/app/main.c" PROPERTIES COMPILE_DEFINITIONS
    main=atoll_application)
  target_compile_definitions(${core} PRIVATE
    $<$<COMPILE_LANGUAGE:ASM>:atoll_wait_interrupt=atoll_wait_asleep>)
  # The main stack becomes that of interrupts.
  set(defsym --defsym=)
  if(ATOLL_TOOLCHAIN MATCHES "gcc$")
    set(defsym -Wl,--defsym=)
  endif()
  target_link_options(${core} PRIVATE ${defsym}__freertos_irq_stack_top=atoll_stack_top)
endfunction()
