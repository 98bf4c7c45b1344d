# Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
#
# With ATOLL_ETHOS_U_DRIVER the image of 'cpu' has Arm's driver of that folder, for
# ethos_u55; without it, an NPU is refused when it starts.

set(ATOLL_ETHOS_U_DRIVER "" CACHE PATH "A folder with Arm's ethos-u-core-driver")
set(ATOLL_CMSIS_CORE "" CACHE PATH "The folder CMSIS/Core/Include of Arm's CMSIS, which that driver includes")

set(ATOLL_ETHOS_U_SOURCES
  "${ATOLL_ETHOS_U_DRIVER}/src/ethosu_driver.c"
  "${ATOLL_ETHOS_U_DRIVER}/src/ethosu_device_u55_u65.c"
  "${ATOLL_ETHOS_U_DRIVER}/src/ethosu_pmu.c"
)

function(atoll_ethos_u core)
  if(NOT ATOLL_ETHOS_U_DRIVER OR NOT core STREQUAL "cpu")
    return()
  endif()
  target_sources(${core} PRIVATE ${ATOLL_ETHOS_U_SOURCES})
  target_include_directories(${core} SYSTEM PRIVATE "${ATOLL_ETHOS_U_DRIVER}/include"
    "${ATOLL_ETHOS_U_DRIVER}/src" "${ATOLL_CMSIS_CORE}")
  target_compile_definitions(${core} PRIVATE ATOLL_ETHOS_U_DRIVER NDEBUG ETHOSU_LOG_ENABLE=0
    ETHOSU_ARCH=u55 ETHOSU_MACS=128 ETHOSU55)
  # The driver's warnings are its makers'; a compiler without a C library takes some headers from here.
  set(options -w -std=c11 -idirafter "${ATOLL_BSP}/ethos_u/libc")
  set_source_files_properties(${ATOLL_ETHOS_U_SOURCES} PROPERTIES COMPILE_OPTIONS "${options}")
  set_source_files_properties("${ATOLL_BSP}/src/ethos_u.c" "${ATOLL_BSP}/src/atoll_devices.c"
    PROPERTIES COMPILE_OPTIONS "-idirafter;${ATOLL_BSP}/ethos_u/libc")
endfunction()
