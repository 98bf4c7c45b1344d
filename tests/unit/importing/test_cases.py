# SPDX-License-Identifier: Apache-2.0
"""Files whose memories, cores or masters an import lost, invented or took for something else."""

import json
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.importing.reading import asked, chip, imported
from tests.unit.importing.repeated import REPEATED

from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address, on_bus
from atoll_import.imported import Imported
from atoll_import.vendor_values import extensions_of, is_dma, riscv_isas

FLASH = """/dts-v1/;
/ { #address-cells = <1>; #size-cells = <1>; model = "petrel";
  cpus { #address-cells = <1>; #size-cells = <0>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m4f"; reg = <0>; }; };
  sram@20000000 { compatible = "mmio-sram"; reg = <0x20000000 0x40000>; };
  soc { #address-cells = <1>; #size-cells = <1>; compatible = "simple-bus"; ranges;
    flash-controller@4001e000 { compatible = "petrel,flash-controller";
      reg = <0x4001e000 0x1000>; #address-cells = <1>; #size-cells = <1>;
      flash@0 { compatible = "soc-nv-flash"; reg = <0x0 0x100000>; }; };
    itcm@10000000 { compatible = "nxp,imx-itcm"; reg = <0x10000000 0x20000>; };
    memory@30000000 { compatible = "zephyr,memory-region"; reg = <0x30000000 0x10000>; };
    sram@31000000 { compatible = "petrel,odd-sram"; reg = <0x31000000 0x1000>; };
    spi@40002000 { reg = <0x40002000 0x100>; #address-cells = <1>; #size-cells = <0>;
      flash@1 { compatible = "jedec,spi-nor"; reg = <1>; }; };
    dma-router@40003000 { reg = <0x40003000 0x100>; #dma-cells = <3>; dma-masters = <0>; };
    dma-controller@40004000 { reg = <0x40004000 0x100>; #dma-cells = <3>; };
    clocks: ccm@400fc000 { compatible = "nxp,imx-ccm"; reg = <0x400fc000 0x4000>; };
  };
  reserved-memory { #address-cells = <1>; #size-cells = <1>; ranges;
    memory@20001000 { reg = <0x20001000 0x1000>; }; };
};
"""

RISCV = """/dts-v1/;
/ { #address-cells = <1>; #size-cells = <1>; model = "skua rv";
  cpus { #address-cells = <1>; #size-cells = <0>;
   cpu@0 { device_type = "cpu"; compatible = "riscv"; reg = <0>; riscv,isa = "rv64imafdc"; };
   cpu@1 { device_type = "cpu"; compatible = "riscv"; reg = <1>; riscv,isa-base = "rv32i";
           riscv,isa-extensions = "i", "m", "a", "c", "zicsr", "zifencei"; };
   cpu@2 { device_type = "cpu"; compatible = "riscv"; reg = <2>; riscv,isa = "rv64gc";
           status = "disabled"; }; };
  memory@80000000 { device_type = "memory"; reg = <0x80000000 0x4000000>; };
  memory@90000000 { device_type = "memory"; status = "disabled"; reg = <0x90000000 0x400000>; };
  memory@a0000000 { device_type = "memory"; reg = <0xa0000000 0>; };
  bus { status = "disabled"; #address-cells = <1>; #size-cells = <1>; ranges;
    sram@10000000 { compatible = "mmio-sram"; reg = <0x10000000 0x10000>; }; };
};
"""

VIEWS = """/dts-v1/;
/ { #address-cells = <1>; #size-cells = <1>; model = "tern sdt";
  cpus-apps { #address-cells = <1>; #size-cells = <0>; compatible = "cpus,cluster";
    #ranges-size-cells = <1>; #ranges-address-cells = <1>;
    address-map = <0xfffc0000 &ocm 0xfffc0000 0x40000>, <0xffe00000 &tcm 0xffe00000 0x10000>;
    cpu@0 { compatible = "arm,cortex-a53"; device_type = "cpu"; reg = <0>; }; };
  cpus-rt { #address-cells = <1>; #size-cells = <0>; compatible = "cpus,cluster";
    #ranges-size-cells = <1>; #ranges-address-cells = <1>;
    address-map = <0x0 &tcm 0xffe00000 0x10000>;
    cpu@1 { compatible = "arm,cortex-m7"; device_type = "cpu"; reg = <1>; }; };
  tcm: tcm@ffe00000 { compatible = "mmio-sram"; reg = <0xffe00000 0x10000>; };
  ocm: sram@fffc0000 { compatible = "mmio-sram"; reg = <0xfffc0000 0x40000>; };
};
"""

NODES = """/dts-v1/;
/memreserve/ 0x30000000 0x1000;
/ { #address-cells = <1>; #size-cells = <1>; model = "auk";
  cpus { #address-cells = <1>; #size-cells = <0>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m33"; reg = <0>; }; };
  memory@20000000 { device_type = "memory"; reg = <0x20000000 0x40000>; };
  sram@30000000 { compatible = "mmio-sram"; reg = <0x30000000 0x4000>; };
  reserved-memory { #address-cells = <1>; #size-cells = <1>; ranges;
    tee@20000000 { reg = <0x20000000 0x8000>; no-map; };
    dma@20010000 { compatible = "shared-dma-pool"; reg = <0x20010000 0x1008>; no-map; };
    dma-pool { compatible = "shared-dma-pool"; size = <0x1000>; reusable; };
    dma@20030000 { compatible = "shared-dma-pool"; reg = <0x20030000 0x1000>; }; };
  soc { #address-cells = <1>; #size-cells = <1>; compatible = "simple-bus"; ranges;
    bram@c000000 { compatible = "auk,late", "xlnx,axi-bram-ctrl-4.1"; reg = <0xc000000 0x10000>; };
    memory-controller@c100000 { compatible = "xlnx,zynqmp-ocmc-1.0"; reg = <0xc100000 0x1000>; };
    block@c200000 { compatible = "arm,pl353-nand-r2p1"; reg = <0xc200000 0x1000>; };
    psu_ocm_ram_0@c300000 { compatible = "auk,psu"; reg = <0xc300000 0x1000>; };
    l2mem@c400000 { compatible = "auk,cells"; reg = <0xc400000 0x1000>; };
    part@c500000 { compatible = "auk,big-fram-v1.2"; reg = <0xc500000 0x1000>; };
    nor@90000000 { compatible = "st,stm32-ospi-nor"; reg = <0x90000000 0x100000>; };
    psram@a0000000 { compatible = "st,stm32-xspi-psram"; reg = <0xa0000000 0x100000>; };
    ecc@c600000 { compatible = "auk,sram-ecc"; reg = <0xc600000 0x1000>; };
    memory-controller@c700000 { compatible = "auk,sram-controller"; reg = <0xc700000 0x100>; };
  };
};
"""

STUB = """cpu: CPU.CortexM @ sysbus
    cpuType: "cortex-m4f"
flash: Memory.MappedMemory @ sysbus 0x08000000
    size: 0x80000
sram: Memory.MappedMemory @ sysbus 0x20000000
    size: 0x20000
flash_regs: Memory.MappedMemory @ sysbus 0x40023C00
    size: 0x400
canRam: Memory.ArrayMemory @ { sysbus 0x4000AC00; sysbus 0x5000AC00 }
    size: 0x400
bitband: Miscellaneous.BitBanding @ sysbus <0x22000000, +0x2000000>
odd: Memory.OddMemory @ sysbus 0x60000000
spare: Memory.MappedMemory @ none
    size: 0x1000
"""

CLUSTER = """cluster0: CPU.Cluster @ sysbus
cpu0: CPU.ARMv7A @ cluster0
    cpuType: "cortex-a9"
cpu1: CPU.CortexM @ sysbus
    cpuType: "cortex-m1"
semihosting: CPU.SemihostingHandler @ cpu0
canRam: Memory.MappedMemory @ sysbus 0x40000000
    size: 0x1000
tcm: Memory.MappedMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x0; cpu: cpu1 };
        sysbus new Bus.BusPointRegistration { address: 0x10000000; cpu: cpu1 };
        sysbus new Bus.BusPointRegistration { address: 0x3000000; cluster: cluster0 };
        sysbus 0x20000000
    }
    size: 0x20000
dma: DMA.STM32DMA @ sysbus 0x40001000
dmaChannels: DMA.NXP_eDMA_Channels @ dma
dmaOdd: DMA.OddDMA @ sysbus 0x40002000
"""

DIM = """<?xml version="1.0" encoding="utf-8"?>
<device><name>SKUA1</name><cpu><name>CM4</name><fpuPresent>1</fpuPresent></cpu>
<peripherals>
<peripheral><dim>2</dim><dimIncrement>0x1000</dimIncrement><dimIndex>A-B</dimIndex>
  <name>DMA_%s</name><baseAddress>0x40010000</baseAddress></peripheral>
<peripheral><dim>2</dim><dimIncrement>0x1000</dimIncrement><name>DMA[%s]</name>
  <baseAddress>0x40020000</baseAddress></peripheral>
<peripheral><name>GPDMA_CH0</name><baseAddress>0x40030000</baseAddress></peripheral>
<peripheral><name>HDMA_S</name><baseAddress>0x50040000</baseAddress></peripheral>
<peripheral derivedFrom="HDMA_S"><name>HDMA_NS</name><baseAddress>0x40040000</baseAddress>
</peripheral>
<peripheral><name>HDMAXBAR</name><baseAddress>0x40050000</baseAddress></peripheral>
<peripheral><name>CAN0</name><baseAddress>0x40060000</baseAddress>
  <addressBlock><offset>0</offset><size>0x400</size><usage>registers</usage></addressBlock>
  <addressBlock><offset>0x400</offset><size>0x400</size><usage>buffer</usage></addressBlock>
</peripheral>
<peripheral derivedFrom="CAN0"><name>CAN1</name><baseAddress>0x40070000</baseAddress>
</peripheral>
</peripherals></device>
"""

PACK = """<?xml version="1.0"?>
<package schemaVersion="1.7.0"><devices><family Dfamily="F"><processor Dcore="Cortex-M4"/>
<device Dname="GULL2">
  <memory name="Flash" access="rx" start="0x08000000" size="0x8000"/>
  <memory name="Ram" access="rwx" start="0x20000000" size="0x8000"/>
  <memory name="Ram2" access="rwx" start="0x20004000" size="0x8000"/>
  <memory name="Ports" access="rwp" start="0x40000000" size="0x8000"/>
  <algorithm name="a.FLM" start="0x08000000" size="0x8000"/>
  <algorithm name="b.FLM" start="0x90000000" size="0x8000000"/>
</device></family></devices></package>
"""

SEEN = """cpu: CPU.CortexM @ sysbus
    cpuType: "cortex-m7"
cpu2: CPU.CortexM @ sysbus
    cpuType: "cortex-m4f"
both: Memory.MappedMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x10010000; cpu: cpu };
        sysbus new Bus.BusPointRegistration { address: 0x38000000; cpu: cpu2 }
    }
    size: 0x4000
own: Memory.MappedMemory @ sysbus new Bus.BusPointRegistration { address: 0x10010000; cpu: cpu2 }
    size: 0x8000
ram: Memory.MappedMemory @ sysbus 0x20000000
    size: 0x4000
tcm: Memory.MappedMemory @ sysbus new Bus.BusPointRegistration { address: 0x20000000; cpu: cpu2 }
    size: 0x4000
"""


def ipxact(*maps: str, more: str = "") -> str:
    """Return a component with memory maps."""
    inside = "".join(f"<ipxact:memoryMap>{each}</ipxact:memoryMap>" for each in maps)
    space = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
    return (
        f'<?xml version="1.0"?>\n<ipxact:component xmlns:ipxact="{space}"><ipxact:name>skua'
        f"</ipxact:name><ipxact:memoryMaps>{inside}</ipxact:memoryMaps>{more}</ipxact:component>\n"
    )


def block(name: str, base: str, size: str, kind: str = "addressBlock") -> str:
    """Return a block of memory."""
    where = f"<ipxact:baseAddress>{base}</ipxact:baseAddress>" if base else ""
    return (
        f"<ipxact:{kind}><ipxact:name>{name}</ipxact:name>{where}"
        f"<ipxact:range>{size}</ipxact:range><ipxact:usage>memory</ipxact:usage>"
        f"<ipxact:access>read-write</ipxact:access></ipxact:{kind}>\n"
    )


def bank(alignment: str) -> str:
    """Return a bank of two blocks at 0x80000000."""
    return (
        f'<ipxact:bank bankAlignment="{alignment}"><ipxact:name>bank</ipxact:name>'
        f"<ipxact:baseAddress>'h80000000</ipxact:baseAddress><ipxact:usage>memory</ipxact:usage>"
        f"{block('f0', '', '4096')}{block('f1', '', '4096')}</ipxact:bank>\n"
    )


PARAMETERS = """<ipxact:parameters>
<ipxact:parameter parameterId="p1"><ipxact:name>ROWS</ipxact:name><ipxact:value>4 * K</ipxact:value>
</ipxact:parameter><ipxact:parameter parameterId="K"><ipxact:value>2 ** 10</ipxact:value>
</ipxact:parameter></ipxact:parameters>"""
EXPRESSION = ipxact(
    f"<ipxact:name>bus</ipxact:name>{block('rom', chr(39) + 'h0', '4096*4')}"
    f"{block('ram', '32' + chr(39) + 'h2000_0000', '(p1 + 4096) / 2')}{bank('serial')}",
    more=PARAMETERS,
)
MAPS = ipxact(
    f"<ipxact:name>cpu_map</ipxact:name>{block('itcm', '0', '0x8000')}"
    f"{block('ram', '0x20000000', '0x40000')}{block('both', '0x30000000', '0x1000')}",
    f"<ipxact:name>npu_map</ipxact:name>{block('dram', '0', '0x1000000')}"
    f"{block('both', '0x50000000', '0x1000')}{bank('parallel')}",
)

WINDOWS = """/dts-v1/;
/ { #address-cells = <2>; #size-cells = <2>; model = "gannet";
  cpus { #address-cells = <1>; #size-cells = <0>;
    cpu@0 { device_type = "cpu"; compatible = "riscv"; reg = <0>; riscv,isa = "rv64gc"; }; };
  memory@80000000 { device_type = "memory"; reg = <0 0x80000000 4 0>; };
  soc { #address-cells = <2>; #size-cells = <2>; compatible = "simple-bus"; ranges;
    cache-controller@2010000 { compatible = "gannet,ccache", "cache";
      reg = <0 0x2010000 0 0x1000>, <0 0x8000000 0 0x200000>; reg-names = "control", "sideband"; };
    cache-controller@3010000 { compatible = "gannet,l3", "cache";
      reg = <0 0x3010000 0 0x1000>, <0 0x9000000 0 0x100000>; };
    l2-lim@a000000 { compatible = "gannet,l2-lim"; reg = <0 0xa000000 0 0x8000>; };
    spi@10040000 { compatible = "gannet,spi0";
      reg = <0 0x10040000 0 0x1000>, <0 0x20000000 0 0x10000000>; reg-names = "control", "mem"; };
    spi@10041000 { compatible = "gannet,spi1"; status = "disabled";
      reg = <0 0x10041000 0 0x1000>, <0 0x30000000 0 0x10000000>; reg-names = "control", "mem"; };
    can@10050000 { compatible = "gannet,can";
      reg = <0 0x10050000 0 0x400>, <0 0x10060000 0 0x800>; reg-names = "m_can", "message_ram"; };
    interrupt-controller@c000000 { compatible = "gannet,gic";
      reg = <0 0xc000000 0 0x10000>, <0 0xd000000 0 0x200000>; };
    sram@e000000 { compatible = "mmio-sram"; reg = <0 0xe000000 0 0x1000>, <0 0xe800000 0 0x1000>;
      reg-names = "a", "mem"; };
  };
};
"""

EACH = """cpu0: CPU.RiscV32 @ sysbus
    cpuType: "rv32imac"
cpu1: CPU.RiscV32 @ sysbus
    cpuType: "rv32imac"
tcm: Memory.MappedMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x10000; cpu: cpu0 };
        sysbus new Bus.BusPointRegistration { address: 0x0; cpu: cpu1 }
    }
    size: 0x8000
bothRam: Memory.MappedMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x20000; cpu: cpu0 };
        sysbus new Bus.BusPointRegistration { address: 0x30000; cpu: cpu0 };
        sysbus new Bus.BusPointRegistration { address: 0x30000; cpu: cpu1 }
    }
    size: 0x8000
ownRam: Memory.MappedMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x40000; cpu: cpu0 }
    }
    size: 0x8000
farRam: Memory.MappedMemory @ {
        sysbus new Bus.BusPointRegistration { address: 0x60000; cpu: elsewhere };
        sysbus new Bus.BusPointRegistration { address: 0x50000; cpu: cpu0 }
    }
    size: 0x8000
sram: Memory.MappedMemory @ sysbus 0x80000000
    size: 0x20000
"""

CASES: Mapping[str, str] = {
    "windows.dts": WINDOWS,
    "each.repl": EACH,
    "flash.dts": FLASH,
    "rv.dts": RISCV,
    "view.dts": VIEWS,
    "nodes.dts": NODES,
    "stub.repl": STUB,
    "cluster.repl": CLUSTER,
    "seen.repl": SEEN,
    "dim.svd": DIM,
    "one.pdsc": PACK,
    "expression.xml": EXPRESSION,
    "maps.xml": MAPS,
    **REPEATED,
}
"""By a name that such a file has."""

needs_dtc = pytest.mark.skipif(not shutil.which("dtc"), reason="dtc is not installed")


def read(name: str, folder: Path) -> Imported:
    """Import a case."""
    return imported(folder, {name: CASES[name]})


def left_out(found: Imported) -> dict[str, str]:
    """Return what is left out, with the reason."""
    return {each.what: each.why for each in found.left_out}


@needs_dtc
def test_memories_of_a_tree(tmp_path: Path) -> None:
    found = read("flash.dts", tmp_path)
    data = chip(found)
    assert {name: (each["origin"], each["kind"]) for name, each in data["memories"].items()} == {
        "sram": (0x2000_0000, "ram"),
        "flash": (0, "rom"),
        "itcm": (0x1000_0000, "ram"),
        "memory": (0x3000_0000, "undecided"),
    }
    out = left_out(found)
    assert "petrel,odd-sram" in out["memory sram at 0x31000000"]
    assert "nothing above it maps it" in out["memory flash at 0x1"]
    assert [name for name, each in data["devices"].items() if each["kind"] == "master"] == [
        "dma_controller"
    ]
    assert data["devices"]["cpu_0"]["isa"] == "armv7e-m+fp"
    assert "Linux keeps it" in out["memory memory at 0x20001000"]
    assert not any("400fc000" in what for what in out)


@needs_dtc
def test_each_node_like_a_memory_is_one_or_named(tmp_path: Path) -> None:
    found = read("nodes.dts", tmp_path)
    data, out = chip(found), left_out(found)
    assert {name: (each["origin"], each["kind"]) for name, each in data["memories"].items()} == {
        "memory": (0x2000_8000, "ram"),
        "memory_2": (0x2001_1010, "ram"),
        "sram": (0x3000_1000, "ram"),
        "bram": (0x0C00_0000, "ram"),
        "nor": (0x9000_0000, "rom"),
        "psram": (0xA000_0000, "ram"),
    }
    assert "controller" in out["memory memory-controller at 0xc100000"]
    assert "NAND" in out["memory block at 0xc200000"]
    assert "auk,psu" in out["memory psu_ocm_ram_0 at 0xc300000"]
    assert "auk,cells" in out["memory l2mem at 0xc400000"]
    assert "auk,big-fram-v1.2" in out["memory part at 0xc500000"]
    assert "2 other peripherals" in out


@needs_dtc
def test_reserved_bytes_are_named_and_never_a_master(tmp_path: Path) -> None:
    """What nothing may map is no memory of the chip: what is beside it is, by 16 bytes."""
    found = read("nodes.dts", tmp_path)
    data, out = chip(found), left_out(found)
    assert [*data["devices"]] == ["cpu_0"]
    kept = {each.split()[-1]: why for each, why in out.items() if " keeps it" in why}
    assert {at: why.split()[0] for at, why in kept.items()} == {
        "0x20000000": "firmware",
        "0x20010000": "firmware",
        "0x30000000": "firmware",
        "0x20030000": "Linux",
        "dma-pool": "Linux",
    }
    sizes = [data["memories"][name]["size"] for name in ("memory", "memory_2", "sram")]
    assert sizes == ["32 KiB", f"{0x40000 - 0x11010} B", "12 KiB"]


@needs_dtc
def test_an_address_of_another_space_is_none_of_the_cores(tmp_path: Path) -> None:
    text = FLASH.replace("petrel,flash-controller", "espressif,esp32-flash-controller")
    found = imported(tmp_path, {"flash.dts": text})
    assert "flash" not in chip(found)["memories"]
    assert "nothing above it maps it" in left_out(found)["memory flash at 0x0"]


@needs_dtc
def test_instruction_sets_and_what_is_disabled(tmp_path: Path) -> None:
    found = read("rv.dts", tmp_path)
    data = chip(found)
    assert {name: each["isa"] for name, each in data["devices"].items()} == {
        "cpu_0": "rv64gc",
        "cpu_1": "rv32imac",
    }
    assert [*data["memories"]] == ["memory"]
    assert left_out(found) == {
        "memory memory at 0x90000000": "4 MiB: it has the status 'disabled'",
        "memory memory at 0xa0000000": "the file says 0 bytes",
        "memory sram at 0x10000000": "64 KiB: '/bus', which it is in, has the status 'disabled'",
        "core cpu@2": "it has the status 'disabled'",
    }


@needs_dtc
def test_maps_of_clusters_are_views(tmp_path: Path) -> None:
    data = chip(read("view.dts", tmp_path))
    assert data["memories"]["tcm"]["views"] == {"cpu_1": 0}
    assert "views" not in data["memories"]["sram"]
    assert data["pools"]["tcm"]["reach"] == {"cpu_0": "rw", "cpu_1": "rw"}
    assert data["pools"]["sram"]["reach"] == {"cpu_0": "rw", "cpu_1": "undecided"}


CLUSTERS = """/dts-v1/;
/ { #address-cells = <1>; #size-cells = <1>;
  cpus-a { compatible = "cpus,cluster"; #address-cells = <1>; #size-cells = <0>;
    #ranges-size-cells = <1>; #ranges-address-cells = <1>;
    address-map = <0x10010000 &tb 0x38000000 0x4000>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m7"; reg = <0>; }; };
  cpus-b { compatible = "cpus,cluster"; #address-cells = <1>; #size-cells = <0>;
    #ranges-size-cells = <1>; #ranges-address-cells = <1>;
    address-map = <0x10010000 &ta 0x39000000 0x4000>, <0x38000000 &tb 0x38000000 0x4000>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m4"; reg = <0>; }; };
  tb: tb@38000000 { compatible = "mmio-sram"; reg = <0x38000000 0x4000>; };
  ta: ta@39000000 { compatible = "mmio-sram"; reg = <0x39000000 0x4000>; };
};
"""


@needs_dtc
def test_cores_of_one_name_are_those_of_their_clusters(tmp_path: Path) -> None:
    data = chip(imported(tmp_path, {"clusters.dts": CLUSTERS}))
    assert [*data["devices"]] == ["cpus_a_cpu_0", "cpus_b_cpu_0"]
    assert data["memories"]["tb"]["views"] == {"cpus_a_cpu_0": 0x1001_0000}
    assert data["memories"]["ta"]["views"] == {"cpus_b_cpu_0": 0x1001_0000}
    assert data["pools"]["ta"]["reach"] == {"cpus_a_cpu_0": UNDECIDED, "cpus_b_cpu_0": "rw"}


def test_cores_of_one_name_in_two_files_are_two(tmp_path: Path) -> None:
    text = 'cpu: CPU.CortexM @ sysbus\n    cpuType: "cortex-m{}"\n{}: Memory.MappedMemory @ {}\n'
    own = "sysbus new Bus.BusPointRegistration { address: 0x10000000; cpu: cpu }\n    size: 0x4000"
    files = {"a.repl": text.format("7", "sram", "sysbus 0x20000000\n    size: 0x4000")}
    files["b.repl"] = text.format("4f", "tcm", own)
    data = chip(imported(tmp_path, files))
    assert [each["core"] for each in data["devices"].values()] == ["cortex_m7", "cortex_m4"]
    assert data["pools"]["tcm"]["reach"] == {"cpu": UNDECIDED, "cpu_2": "rw"}


PLACES = VIEWS.replace(
    "<0x0 &tcm 0xffe00000 0x10000>",
    "<0x0 &tcm 0xffe00000 0x10000>, <0x80000 &tcm 0xffe00000 0x10000>,\n"
    "      <0x20000000 &ocm 0xfffd0000 0x10000>",
)


@needs_dtc
def test_one_memory_at_two_addresses_is_planned_once(tmp_path: Path) -> None:
    """Cores that see it elsewhere share its bytes: it is one memory of the bus, and one pool."""
    found = imported(tmp_path, {"view.dts": VIEWS})
    path = tmp_path / "chip.yaml"
    path.write_text(found.text)
    answers = [f"{'.'.join(each.key)}={each.example}" for each in found.questions if each.example]
    answers = [each for each in answers if ".stack." not in each and ".isa" not in each]
    answers += ["devices.cpu_0.stack={memory: sram, size: 4 KiB}", "devices.cpu_1.isa=armv7e-m"]
    answers += ["devices.cpu_1.stack={memory: tcm, size: 4 KiB, interrupts: 256}"]
    answers += ["devices.cpu_1.mailbox=0x4000_0000", "devices.cpu_1.irq=4"]
    answers += ["pools.sram.role=both"]
    soc = load_soc(path, answers)
    assert [memory.origin for memory in soc.memories] == [0xFFE0_0000, 0xFFFC_0000]
    regions = sorted(soc.regions(), key=lambda region: region.origin)
    assert all(low.end <= high.origin for low, high in pairwise(regions))
    pool = soc.pool("tcm").region
    for core in ("cpu_0", "cpu_1"):
        at = device_address(soc, core, pool.origin)
        assert on_bus(soc, core, at) == pool.origin
    assert device_address(soc, "cpu_1", pool.origin) == pool.origin - 0xFFE0_0000
    inside = [r for r in regions if pool.memory == r.memory]
    assert sum(region.size for region in inside) <= 0x10000


@needs_dtc
def test_parts_and_further_places_of_a_map_are_named(tmp_path: Path) -> None:
    found = imported(tmp_path, {"view.dts": PLACES})
    data, out = chip(found), left_out(found)
    assert data["memories"]["tcm"]["views"] == {"cpu_1": 0}
    assert "views" not in data["memories"]["sram"]
    assert data["pools"]["sram"]["reach"] == {"cpu_0": "rw", "cpu_1": "undecided"}
    assert "sees it there too" in out["memory tcm at 0x80000"]
    assert "sees a part of it" in out["memory sram at 0x20000000"]


def test_stubs_of_renode_are_no_memories(tmp_path: Path) -> None:
    found = read("stub.repl", tmp_path)
    assert [*chip(found)["memories"]] == ["flash", "sram"]
    assert {*left_out(found)} == {
        *("memory flash_regs at 0x40023c00", "memory canRam at 0x4000ac00"),
        *("memory canRam at 0x5000ac00", "memory bitband at 0x22000000"),
        *("memory odd at 0x60000000", "memory spare"),
    }


def test_cores_masters_and_views_of_renode(tmp_path: Path) -> None:
    found = read("cluster.repl", tmp_path)
    data = chip(found)
    assert [*data["devices"]] == ["cpu0", "cpu1", "dma"]
    assert data["memories"]["canram"]["kind"] == "undecided"
    assert data["memories"]["tcm"]["views"] == {"cpu0": 0x300_0000, "cpu1": 0}
    out = left_out(found)
    assert "'cpu1' sees it there too" in out["memory tcm at 0x10000000"]
    assert "Atoll knows no type DMA.OddDMA" in out["master dmaOdd"]


def test_an_address_of_which_each_core_sees_another_memory(tmp_path: Path) -> None:
    """What a core has there for itself hides from it what the others see."""
    found = read("seen.repl", tmp_path)
    data = chip(found)
    assert not left_out(found)
    assert {each["origin"] for each in data["memories"].values()} == {UNDECIDED}
    assert {name: each["views"] for name, each in data["memories"].items()} == {
        "own": {"cpu2": 0x1001_0000},
        "both": {"cpu": 0x1001_0000, "cpu2": 0x3800_0000},
        "ram": {"cpu": 0x2000_0000},
        "tcm": {"cpu2": 0x2000_0000},
    }
    assert data["pools"]["ram"]["reach"] == {"cpu": "rw", "cpu2": UNDECIDED}
    assert "of what cpu sees" in found.text


def test_questions_know_the_chip(tmp_path: Path) -> None:
    found = read("cluster.repl", tmp_path)
    examples = {".".join(each.key): each.example for each in found.questions}
    assert examples["devices.cpu0.core"] == "./cortex_a9.yaml"
    assert examples["devices.cpu1.core"] == "./cortex_m1.yaml"
    assert examples["devices.cpu1.isa"].startswith("armv6-m")
    assert examples["devices.cpu1.stack.memory"] in chip(found)["memories"]


def test_an_address_more_is_an_alias(tmp_path: Path) -> None:
    text = STUB.replace("sysbus 0x20000000", "{ sysbus 0x20000000; sysbus 0x30000000 }")
    found = imported(tmp_path, {"stub.repl": text})
    memories = chip(found)["memories"]
    assert memories["sram"]["origin"] == 0x2000_0000
    assert memories["sram_at_2"]["origin"] == 0x3000_0000
    assert memories["sram_at_2"]["alias_of"] == "sram"


def test_arrays_and_twins_of_an_svd(tmp_path: Path) -> None:
    found = read("dim.svd", tmp_path)
    assert [name for name, each in chip(found)["devices"].items() if each["kind"] != "cpu"] == [
        *("dma0", "dma1", "hdma_ns"),
    ]
    assert "DMA1 at 0x40021000" in found.text
    out = left_out(found)
    assert "another security level" in out["master HDMA_S at 0x50040000"]
    assert {"memory CAN0 at 0x40060400", "memory CAN1 at 0x40070400"} <= {*out}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *(("DMA", True), ("DMA2", True), ("GPDMA_1", True), ("DMA2D", True), ("SEC_DMA1", True)),
        *(("DMAMUX1", False), ("DMA1_CH3", False), ("LDMAXBAR", False), ("ETH_DMA", False)),
        *(("UDMAERR", False), ("DMAC0_NS", True), ("NODMA", False)),
    ],
)
def test_names_of_dma_controllers(name: str, known: bool) -> None:
    assert is_dma(name) is known


def test_what_a_pack_names_otherwise(tmp_path: Path) -> None:
    found = read("one.pdsc", tmp_path)
    assert [*chip(found)["memories"]] == ["flash", "ram"]
    out = left_out(found)
    assert "overlaps 'Ram'" in out["memory Ram2 at 0x20004000"]
    assert "peripherals" in out["memory Ports at 0x40000000"]
    assert "algorithm" in out["memory flash at 0x90000000"]


def test_expressions_of_ip_xact(tmp_path: Path) -> None:
    sizes = {
        name: (each["origin"], each["size"])
        for name, each in chip(read("expression.xml", tmp_path))["memories"].items()
    }
    assert sizes == {
        "rom": (0, "16 KiB"),
        "ram": (0x2000_0000, "4 KiB"),
        "f0": (0x8000_0000, "4 KiB"),
        "f1": (0x8000_1000, "4 KiB"),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4096 * ROWS", "'ROWS' is no parameter of the component with a value"),
        ("4096 / 0", "divides by 0"),
        ("(4096", r"lacks a '\)'"),
        ("2 ** 200", "is too large"),
        ("4096 §", "'§' means nothing"),
        ("(" * 400, "nested too deep"),
    ],
)
def test_expressions_without_a_value(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"E187\]: 'range' of 'rom' is .*{said}"):
        imported(tmp_path, {"a.xml": ipxact(block("rom", "0", text))})


def test_maps_are_spaces_of_their_own(tmp_path: Path) -> None:
    found = read("maps.xml", tmp_path)
    data = chip(found)
    assert {name: each["origin"] for name, each in data["memories"].items()} == {
        **{"itcm": 0, "ram": 0x2000_0000, "both": 0x3000_0000, "dram": "undecided"},
    }
    assert "# at 0x0 of npu_map" in found.text
    assert "addressBlock itcm, whose map cpu_map is taken for the bus" in found.text
    assert found.text.count("is taken for the bus") == 3
    assert "memories.dram.origin" in asked(found)
    out = left_out(found)
    assert "taken for that at 0x30000000 of another map" in out["memory both at 0x50000000"]
    assert "parallel bank" in out["memory f0 at 0x80000000"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("rv64gc", "rv64imafdc_zicsr_zifencei"), ("rv32i2p1_m2p0", "rv32im"), ("rv32ic_m", "rv32imc")],
)
def test_isa_strings_are_sets(one: str, other: str) -> None:
    assert extensions_of(one) == extensions_of(other)


def test_an_isa_that_atoll_has_not_leaves_what_the_core_runs() -> None:
    assert riscv_isas("riscv", "rv32imafc_sstc") == ("rv32imafc",)
    assert "rv32imafc" in riscv_isas("riscv", "rv32imafdc")
    assert {"rv32im", "rv32i"} <= {*riscv_isas("riscv", "rv32imf")}
    assert "rv32imc" not in riscv_isas("riscv", "rv32imf")


@needs_dtc
def test_what_of_a_device_is_like_a_memory_is_named_with_its_size(tmp_path: Path) -> None:
    """As the bytes of a cache, a mapped flash, messages; not what is off, or just registers."""
    found = read("windows.dts", tmp_path)
    out = {what: why for what, why in left_out(found).items() if what.startswith("memory ")}
    cache = "'/soc/cache-controller"
    assert {what: why.partition(": ")[0] for what, why in out.items()} == {
        "memory cache-controller at 0x8000000": f"'sideband' of {cache}@2010000', 2 MiB",
        "memory cache-controller at 0x9000000": f"part 2 of {cache}@3010000', 1 MiB",
        "memory l2-lim at 0xa000000": "32 KiB",
        "memory spi at 0x20000000": "'mem' of '/soc/spi@10040000', 256 MiB",
        "memory can at 0x10060000": "'message_ram' of '/soc/can@10050000', 2 KiB",
    }
    assert [*chip(found)["memories"]] == ["sram", "sram_2", "memory"]
    assert chip(found)["memories"]["memory"]["size"] == "16 GiB"
    assert chip(found)["pools"]["memory"]["size"] == "1 GiB"
    assert [it.key[-1] for it in found.questions if it.key[1] == "memory"] == ["role"]


def test_a_memory_that_cores_see_at_addresses_of_their_own_has_none_of_the_bus(
    tmp_path: Path,
) -> None:
    """But for one that all of them, or the only one, see it at."""
    data = chip(read("each.repl", tmp_path))
    memories = {
        name: (each["origin"], each.get("views")) for name, each in data["memories"].items()
    }
    assert memories == {
        "tcm": (UNDECIDED, {"cpu0": 0x1_0000, "cpu1": 0}),
        "bothram": (0x3_0000, {"cpu0": 0x2_0000}),
        "ownram": (0x4_0000, None),
        "farram": (UNDECIDED, {"cpu0": 0x5_0000}),
        "sram": (0x8000_0000, None),
    }


def test_a_place_that_shows_a_part_of_a_memory_is_not_the_memory(tmp_path: Path) -> None:
    """The bytes behind the part are not there; a memory seen in part alone is that part."""
    place = "sysbus new Bus.BusRangeRegistration { address: 0x%x; size: 0x10000%s }"
    text = (
        'cpu: CPU.CortexM @ sysbus\n    cpuType: "cortex-m7"\n'
        "ram: Memory.MappedMemory @ {\n        sysbus 0x10000000;\n        "
        f"{place % (0x1800_0000, '; offset: 0x8000')}\n    }}\n    size: 0x100000\n"
        f"sram: Memory.MappedMemory @ {place % (0x2000_0000, '')}\n    size: 0x40000\n"
    )
    found = imported(tmp_path, {"part.repl": text})
    sizes = {name: each["size"] for name, each in chip(found)["memories"].items()}
    assert sizes == {"ram": "1 MiB", "sram": "64 KiB"}
    assert left_out(found) == {
        "memory ram at 0x18000000": "64 KiB of it from byte 0x8000 on are seen there; describe an"
        " alias by hand"
    }


@pytest.mark.parametrize(
    ("said", "comment"),
    [("", "one of rv32im"), ("rv32i2p0", "for example rv32im, if it has m, which the file does")],
)
def test_an_instruction_set_that_the_file_does_not_say_is_a_question(
    tmp_path: Path, said: str, comment: str
) -> None:
    """Though Atoll's core has one alone: such cores are built with others."""
    constants = {"config_cpu_type_vexriscv": None, **({"config_cpu_isa": said} if said else {})}
    memories = {"sram": {"base": 0x1000_0000, "size": 8192, "type": "cached"}}
    text = json.dumps({"csr_bases": {}, "constants": constants, "memories": memories})
    found = imported(tmp_path, {"csr.json": text})
    assert chip(found)["devices"]["cpu"]["isa"] == UNDECIDED
    assert f"isa: undecided  # {comment}" in found.text


def test_memories_of_a_block_with_registers_are_named(tmp_path: Path) -> None:
    pytest.importorskip("systemrdl")
    text = """addrmap skua {
  external mem { mementries = 1024; memwidth = 32; } ram @0x20000000;
  addrmap { reg { field {} f[32]; } id @0;
    addrmap { external mem { mementries = 256; memwidth = 32; } messages @0; } inner @0x1000;
  } can @0x40000000;
};
"""
    found = imported(tmp_path, {"skua.rdl": text})
    assert [*chip(found)["memories"]] == ["ram"]
    assert left_out(found)["memory messages at 0x40001000"].startswith("1 KiB of 'can'")
