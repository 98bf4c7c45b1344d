# SPDX-License-Identifier: Apache-2.0
"""Small files of each format, as a vendor might write them."""

SVD = """<?xml version="1.0" encoding="utf-8"?>
<device schemaVersion="1.3">
  <name>GULL 1</name>
  <cpu>
    <name>CM4</name>
    <fpuPresent>true</fpuPresent>
  </cpu>
  <peripherals>
    <peripheral>
      <name>DMA1</name>
      <baseAddress>0x40020000</baseAddress>
      <interrupt><name>DMA1_CH0</name><value>11</value></interrupt>
      <interrupt><name>DMA1_CH1</name><value>12</value></interrupt>
    </peripheral>
    <peripheral>
      <name>UART0</name>
      <baseAddress>0x40001000</baseAddress>
    </peripheral>
    <peripheral derivedFrom="UART0">
      <name>UART1</name>
      <baseAddress>0x40002000</baseAddress>
    </peripheral>
  </peripherals>
</device>
"""

PDSC = """<?xml version="1.0" encoding="utf-8"?>
<package schemaVersion="1.7.0">
  <devices>
    <family Dfamily="Gulls" Dvendor="Nobody:1">
      <processor Dcore="Cortex-M4" Dfpu="SP_FPU" Dmpu="MPU"/>
      <memory id="IRAM1" start="0x20000000" size="0x10000"/>
      <subFamily DsubFamily="Small">
        <processor Dclock="64000000"/>
        <device Dname="GULL1">
          <memory name="FLASH" access="rx" start="0x08000000" size="0x40000"/>
        </device>
        <device Dname="GULL2">
          <memory name="FLASH" access="rx" start="0x08000000" size="0x80000"/>
          <memory id="IRAM1" start="0x20000000" size="0x20000"/>
        </device>
      </subFamily>
      <subFamily DsubFamily="Two">
        <processor Pname="A" Dcore="Cortex-M7" Dfpu="DP_FPU" Dclock="400000000"/>
        <processor Pname="B" Dcore="Cortex-M33" Dfpu="SP_FPU"/>
        <device Dname="GULL3">
          <memory Pname="B" name="LOCAL" access="rwx" start="0x30000000" size="0x8000"/>
        </device>
      </subFamily>
    </family>
  </devices>
</package>
"""

IPXACT = """<?xml version="1.0"?>
<ipxact:component xmlns:ipxact="http://www.accellera.org/XMLSchema/IPXACT/1685-2014">
  <ipxact:vendor>nobody</ipxact:vendor>
  <ipxact:name>skua</ipxact:name>
  <ipxact:memoryMaps>
    <ipxact:memoryMap>
      <ipxact:name>bus</ipxact:name>
      <ipxact:addressBlock>
        <ipxact:name>boot</ipxact:name>
        <ipxact:baseAddress>'h1000</ipxact:baseAddress>
        <ipxact:range>4096</ipxact:range>
        <ipxact:usage>memory</ipxact:usage>
        <ipxact:access>read-only</ipxact:access>
      </ipxact:addressBlock>
      <ipxact:addressBlock>
        <ipxact:name>work</ipxact:name>
        <ipxact:baseAddress>32'h2000_0000</ipxact:baseAddress>
        <ipxact:range>64K</ipxact:range>
        <ipxact:usage>memory</ipxact:usage>
        <ipxact:access>read-write</ipxact:access>
      </ipxact:addressBlock>
      <ipxact:addressBlock>
        <ipxact:name>dma</ipxact:name>
        <ipxact:baseAddress>0x40000000</ipxact:baseAddress>
        <ipxact:range>4096</ipxact:range>
        <ipxact:usage>register</ipxact:usage>
      </ipxact:addressBlock>
      <ipxact:bank bankAlignment="serial"><ipxact:name>banked</ipxact:name></ipxact:bank>
    </ipxact:memoryMap>
  </ipxact:memoryMaps>
  <ipxact:cpus>
    <ipxact:cpu><ipxact:name>Cortex-M3</ipxact:name></ipxact:cpu>
  </ipxact:cpus>
</ipxact:component>
"""

CSR_JSON = """{
    "csr_bases": {
        "ctrl": 4026531840,
        "uart": 4026533888
    },
    "csr_registers": {
        "ctrl_reset": {"addr": 4026531840, "size": 1, "type": "rw"}
    },
    "constants": {
        "config_platform_name": "puffin",
        "config_clock_frequency": 48000000,
        "config_cpu_count": 1,
        "config_cpu_isa": "rv32i2p0_m",
        "config_cpu_type_vexriscv": null,
        "config_cpu_variant_standard": null
    },
    "memories": {
        "opensbi": {"base": 1089470464, "size": 524288, "type": "cached+linker"},
        "rom": {"base": 0, "size": 65536, "type": "cached"},
        "sram": {"base": 268435456, "size": 8192, "type": "cached"},
        "main_ram": {"base": 1073741824, "size": 536870912, "type": "cached"},
        "csr": {"base": 4026531840, "size": 65536, "type": "io"}
    }
}
"""

REPL = """// A platform with two cores.
using "other.repl"

/* sram0: Memory.MappedMemory @ sysbus 0x1000 */
cpu0: CPU.RiscV32 @ sysbus
    cpuType: "rv32imac_zicsr_zifencei"
    timeProvider: clint

cpu1: CPU.Xtensa @ sysbus
    cpuType: "big // one {"

uart : UART.Some_UART @ sysbus 0x40002000
    -> cpu0@2

flash: Memory.MappedMemory @ sysbus 0x20000000
    size: 0x100000

sram: Memory.MappedMemory @ {
        sysbus 0x800000;  // as code
        sysbus 0x80000000
    }
    size: 0x40000

tcm: Memory.ArrayMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x10000000; cpu: cpu0 }
    }

window: Memory.MappedMemory @ sysbus <0x60000000, +0x10000>

nowhere: Memory.MappedMemory @ none
    size: 0x1000

dma: DMA.STM32LDMA @ sysbus 0x40001000
    [0-3] -> cpu0@[4-7]

tcm:
    size: 0x8000
"""

MPOOL = """{
  "params": {"param": [{"paramname": "max_onchip_sram_size", "value": "1024", "magnitude": "KBYTES"}]},
  "memory": {
    "cacheinfo": [{"nlines": 512, "linesize": 64, "associativity": 8}],
    "mem_file_prefix": "tern",
    "mempools": [
      {
        "fname": "SRAMOFF", "name": "offRAM", "fformat": "FORMAT_RAW",
        "prop": {"rights": "ACC_WRITE", "throughput": "MID", "latency": "MID", "byteWidth": 8, "freqRatio": 2.5},
        "offset": {"value": "0x20000000", "magnitude": "BYTES"},
        "size": {"value": "0", "magnitude": "KBYTES"}
      },
      {
        "fname": "SRAM2", "name": "npuRAM2", "fformat": "FORMAT_RAW",
        "prop": {"rights": "ACC_WRITE", "throughput": "HIGH", "latency": "LOW", "byteWidth": 8, "freqRatio": 1.25, "read_power": 18.5},
        "offset": {"value": "0x20100000", "magnitude": "BYTES"},
        "size": {"value": "448", "magnitude": "KBYTES"}
      },
      {
        "fname": "SPI1", "name": "hyperRAM", "fformat": "FORMAT_RAW",
        "prop": {"rights": "ACC_WRITE", "throughput": "MID", "latency": "HIGH", "byteWidth": 2, "freqRatio": 5.00, "cacheable": "CACHEABLE_ON", "constants_preferred": "true"},
        "offset": {"value": "0x90000000", "magnitude": "BYTES"},
        "size": {"value": "16", "magnitude": "MBYTES"},
        "mode": "USEMODE_RELATIVE"
      },
      {
        "fname": "SPI2", "name": "octoFlash", "fformat": "FORMAT_RAW",
        "prop": {"rights": "ACC_READ", "throughput": "MID", "latency": "HIGH", "byteWidth": 1, "freqRatio": 12.5},
        "offset": {"value": "1795", "magnitude": "MBYTES"},
        "size": {"value": "61", "magnitude": "MBYTES"}
      },
      {
        "fname": "params", "name": "ec pool", "fformat": "FORMAT_C",
        "prop": {"rights": "ACC_READ", "throughput": "LOW", "latency": "HIGH", "byteWidth": 2, "freqRatio": 1},
        "offset": {"value": "0", "magnitude": "BYTES"},
        "size": {"value": "9223372036854775776", "magnitude": "BYTES"},
        "mode": "USEMODE_RELATIVE"
      }
    ]
  }
}
"""  # noqa: E501

VELA_INI = """; Two NPUs and their memories.
[System_Config.Tern]
core_clock=400e6
axi0_port=Sram
axi1_port=OffChipFlash
Sram_clock_scale=1.0
Sram_burst_length=32
Sram_read_latency=32
Sram_write_latency=32
Sram_max_reads=8
OffChipFlash_clock_scale=0.125
OffChipFlash_burst_length=128
OffChipFlash_read_latency=64
OffChipFlash_write_latency=0

[System_Config.Skua]
core_clock: 1e9
axi0_port=Sram
axi1_port=Dram
Sram_clock_scale=0.762
Sram_ports_used=2
Sram_burst_length=64
Sram_read_latency=29
Sram_write_latency=29
Dram_clock_scale=0.234375
Dram_burst_length=128
Dram_read_latency=501
Dram_write_latency=250

# Modes
[Memory_Mode.Only]
const_mem_area=Axi0
arena_mem_area=Axi0
cache_mem_area=Axi0

[Memory_Mode.Parent]
const_mem_area=Axi1
arena_mem_area=Axi0
cache_mem_area=Axi0

[Memory_Mode.Shared]
inherit=Memory_Mode.Parent
arena_cache_size=1048576

[Memory_Mode.Large]
inherit=Memory_Mode.Shared
arena_cache_size=8388608

[Memory_Mode.Apart]
const_mem_area=Axi1
arena_mem_area=Axi1
cache_mem_area=Axi0
arena_cache_size=393216
"""

ONE_VELA_INI = """[System_Config.Tern]
core_clock=400e6
axi0_port=Sram
axi1_port=OffChipFlash
Sram_clock_scale=1.0
Sram_read_latency=32
Sram_max_reads=8
OffChipFlash_clock_scale=0.125
OffChipFlash_burst_length=128
OffChipFlash_read_latency=64

[Memory_Mode.Shared]
const_mem_area=Axi1
arena_mem_area=Axi0
cache_mem_area=Axi0
arena_cache_size=1048576
"""

FILES = {
    "gull.svd": SVD,
    "gull.pdsc": PDSC,
    "skua.xml": IPXACT,
    "csr.json": CSR_JSON,
    "tern.repl": REPL,
    "tern.mpool": MPOOL,
    "tern.ini": ONE_VELA_INI,
}
"""By a name that such a file has."""
