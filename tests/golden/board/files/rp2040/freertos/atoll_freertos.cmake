# Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# With ATOLL_FREERTOS the image of 'core0' has the FreeRTOS kernel of that folder, and app/main.c
# runs in a task; app/tasks.c has the tasks.

set(ATOLL_FREERTOS "" CACHE PATH "A folder with FreeRTOS-Kernel")

set(ATOLL_FREERTOS_OWN
  "${ATOLL_BSP}/freertos/atoll_freertos.c"
  "${ATOLL_BSP}/freertos/vectors_arm.c"
  "${ATOLL_BSP}/app/tasks.c"
)
set(ATOLL_FREERTOS_KERNEL
  "${ATOLL_FREERTOS}/tasks.c"
  "${ATOLL_FREERTOS}/list.c"
  "${ATOLL_FREERTOS}/queue.c"
  "${ATOLL_FREERTOS}/portable/GCC/ARM_CM0/port.c"
  "${ATOLL_FREERTOS}/portable/GCC/ARM_CM0/portasm.c"
)

function(atoll_freertos core)
  if(NOT ATOLL_FREERTOS OR NOT core STREQUAL "core0")
    return()
  endif()
  target_sources(${core} PRIVATE ${ATOLL_FREERTOS_OWN} ${ATOLL_FREERTOS_KERNEL})
  target_include_directories(${core} PRIVATE "${ATOLL_BSP}/freertos" "${ATOLL_FREERTOS}/include"
    "${ATOLL_FREERTOS}/portable/GCC/ARM_CM0"
  )
  # The kernel's warnings are its makers'; a compiler without a C library takes two headers from here.
  set(options -w -idirafter "${ATOLL_BSP}/freertos/libc")
  if(ATOLL_TOOLCHAIN MATCHES "gcc$")
    # GNU as 2.40 has SVC in no other name of this architecture.
    list(APPEND options -march=armv6s-m)
  endif()
  set_source_files_properties(${ATOLL_FREERTOS_KERNEL} PROPERTIES COMPILE_OPTIONS "${options}")
  set_source_files_properties(${ATOLL_FREERTOS_OWN} PROPERTIES COMPILE_OPTIONS
    "-idirafter;${ATOLL_BSP}/freertos/libc")
  set_source_files_properties(app/main.c "${ATOLL_BSP}/app/main.c" PROPERTIES COMPILE_DEFINITIONS
    main=atoll_application)
  target_compile_definitions(${core} PRIVATE
    $<$<COMPILE_LANGUAGE:ASM>:atoll_wait_interrupt=atoll_wait_asleep>)
endfunction()
