# SPDX-License-Identifier: Apache-2.0
"""Files with arrays, absent elements, maps of single cores, and aliases before their memory."""

_HEAD = '<?xml version="1.0"?>\n<ipxact:component xmlns:ipxact="{}"><ipxact:name>skua</ipxact:name>'
_SPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-{}"


def component(year: int, *parts: str) -> str:
    """Return a component of a year's standard; `parts` are written without its prefix."""
    inside = "".join(parts).replace("</", "\0").replace("<", "<ipxact:").replace("\0", "</ipxact:")
    return f"{_HEAD.format(_SPACE.format(year))}{inside}</ipxact:component>\n"


def block(name: str, base: str, size: str, more: str = "", usage: str = "memory") -> str:
    """Return a block of addresses; `more` comes behind its name."""
    where = f"<baseAddress>{base}</baseAddress>" if base else ""
    return (
        f"<addressBlock><name>{name}</name>{more}{where}<range>{size}</range>"
        f"<usage>{usage}</usage><access>read-write</access></addressBlock>\n"
    )


def memory_map(name: str, *blocks: str, more: str = "") -> str:
    """Return a map; `more` comes behind its name."""
    return f"<memoryMap><name>{name}</name>{more}{''.join(blocks)}</memoryMap>\n"


def parameters(**values: str) -> str:
    """Return parameters of a component."""
    each = (
        f'<parameter parameterId="{name}"><name>{name}_name</name><value>{value}</value>'
        "</parameter>"
        for name, value in values.items()
    )
    return f"<parameters>{''.join(each)}</parameters>"


def array(*dimensions: str, stride: str = "") -> str:
    """Return an array of 1685-2022."""
    step = f"<stride>{stride}</stride>" if stride else ""
    return f"<array>{''.join(f'<dim>{each}</dim>' for each in dimensions)}{step}</array>"


def absent(text: str) -> str:
    """Return the condition of 1685-2014 under which an element is there."""
    return f"<isPresent>{text}</isPresent>"


ARRAYS = component(
    2022,
    "<memoryMaps>",
    memory_map(
        "bus",
        block("grid", "'h1_0000", "4096", array("2", "N", stride="'h2000")),
        block("row", "'h8_0000", "4096", array("3")),
        block("dma", "'h4000_0000", "4096", array("2"), usage="register"),
        "<addressBlock><name>other</name><baseAddress>'h5000_0000</baseAddress>"
        "<addressBlockDefinitionRef>lib</addressBlockDefinitionRef></addressBlock>",
        '<bank bankAlignment="serial"><name>bank</name><baseAddress>\'h9_0000</baseAddress>',
        block("one", "", "4096", array("2", stride="8192")),
        block("two", "", "4096"),
        "</bank>",
        "<memoryRemap><name>boot</name><modeRef>reset</modeRef>",
        block("shown", "0", "4096"),
        "</memoryRemap>",
    ),
    memory_map("lib_map", "<memoryMapDefinitionRef>lib</memoryMapDefinitionRef>"),
    "</memoryMaps>",
    parameters(N="1 + 1"),
)

UNITS = component(
    2014,
    "<memoryMaps>",
    memory_map("bus", block("ram", "BASE + 'h1000", "2 ** 14"), more=""),
    "<memoryMap><name>words</name>",
    block("rom", "'h6000_0000", "7 / 2 * 4096"),
    "<addressUnitBits>AUB * 2</addressUnitBits></memoryMap>",
    "<memoryMap><name>odd</name>",
    block("tag", "'h1_0000", "4096"),
    "<addressUnitBits>12</addressUnitBits></memoryMap>",
    "</memoryMaps>",
    parameters(BASE="32'h2000_0000", AUB="8"),
)

PRESENT = component(
    2014,
    "<memoryMaps>",
    memory_map(
        "bus",
        block("ram", "'h2000_0000", "4096", absent("SIZE == 16 &amp;&amp; !false")),
        block("rom", "'h1000_0000", "4096", absent("SIZE != 16")),
        block("dma", "'h4000_0000", "4096", absent("0"), usage="register"),
        '<bank bankAlignment="serial"><name>bank</name><baseAddress>\'h9_0000</baseAddress>',
        block("gone", "", "4096", absent("SIZE &lt; 16")),
        block("here", "", "4096", absent("SIZE >= 16")),
        "</bank>",
        "<subspaceMap><name>window</name>" + absent("0"),
        "<baseAddress>'h5000_0000</baseAddress></subspaceMap>",
    ),
    memory_map("no_map", block("hidden", "'h7000_0000", "4096"), more=absent("7 / 2 - 3")),
    "</memoryMaps>",
    "<cpus><cpu><name>Cortex-M3</name></cpu>",
    f"<cpu><name>Cortex-M7</name>{absent('false')}</cpu></cpus>",
    parameters(SIZE="2 ** 4"),
)

LOCAL = component(
    2014,
    "<addressSpaces>",
    *(
        f"<addressSpace><name>{name}</name><localMemoryMap><name>own</name>"
        f"{block('tcm', '0', '65536')}</localMemoryMap></addressSpace>\n"
        for name in ("space0", "space1")
    ),
    "</addressSpaces>",
    "<memoryMaps>",
    memory_map("one", block("ram", "'h2000_0000", "4096"), block("rom", "0", "4096")),
    memory_map("two", block("ram", "'h3000_0000", "4096")),
    "</memoryMaps><cpus>",
    *(
        f"<cpu><name>Cortex-M{number + 3}</name>"
        f'<addressSpaceRef addressSpaceRef="space{number}"/></cpu>\n'
        for number in (0, 1)
    ),
    "</cpus>",
)

_PACK = (
    '<?xml version="1.0"?>\n<package schemaVersion="1.7.0"><devices><family Dfamily="F">\n{}'
    '<device Dname="GULL2">\n{}</device></family></devices></package>\n'
)
_TWO = (
    '<processor Pname="cm7" Dcore="Cortex-M7" Dfpu="DP_FPU"/>\n'
    '<processor Pname="cm4" Dcore="Cortex-M4" Dfpu="SP_FPU"/>\n'
)


def _memory(name: str, start: int, size: int, more: str = "", access: str = "rwx") -> str:
    where = f'start="{start:#x}" size="{size:#x}"'
    return f'<memory name="{name}" access="{access}" {where} {more}/>\n'


CORES = _PACK.format(
    _TWO,
    _memory("ITCM", 0, 0x1_0000, 'Pname="cm7"')
    + _memory("CODE4", 0, 0x8000, 'Pname="cm4" alias="SRAM2"')
    + _memory("TCM", 0x1000_0000, 0x8000, 'Pname="cm7"')
    + _memory("OWN", 0x1000_0000, 0x8000, 'Pname="cm4"')
    + _memory("SHARED", 0x2400_0000, 0x8000, 'Pname="cm4"')
    + _memory("SHARED", 0x2400_0000, 0x8000, 'Pname="cm7"')
    + _memory("SRAM2", 0x3000_0000, 0x8000),
)

ALIASES = _PACK.format(
    '<processor Dcore="Cortex-M33" Dfpu="SP_FPU" Ddsp="DSP"/>\n',
    _memory("Rom_S", 0x0C00_0000, 0x8_0000, 'alias="Rom_NS"', "rx")
    + _memory("Rom_NS", 0x0800_0000, 0x8_0000, "", "rx")
    + _memory("Ring_S", 0x3000_0000, 0x8000, 'alias="Ring_NS"')
    + _memory("Ring_NS", 0x2000_0000, 0x8000, 'alias="Ring_S"')
    + _memory("Half", 0x1000_0000, 0x4000, 'alias="Ring_S"')
    + _memory("Lost", 0x7000_0000, 0x1000, 'alias="Nowhere"')
    + _memory("RAM_SBUS", 0x2100_0000, 0x4000)
    + _memory("RAM_CBUS", 0x0100_0000, 0x4000)
    + _memory("Twice", 0x5000_0000, 0x1000)
    + _memory("Twice", 0x5100_0000, 0x2000),
)

_REGISTERS = (
    "<registers><register><name>CTRL</name><addressOffset>0</addressOffset></register></registers>"
)


def _peripheral(name: str, at: int, more: str = "", derived: str = "") -> str:
    said = f' derivedFrom="{derived}"' if derived else ""
    return (
        f"<peripheral{said}><name>{name}</name><baseAddress>{at:#x}</baseAddress>{more}"
        "</peripheral>\n"
    )


def _block(size: int, usage: str = "registers") -> str:
    inside = f"<offset>0</offset><size>{size:#x}</size><usage>{usage}</usage>"
    return f"<addressBlock>{inside}</addressBlock>"


TWINS = (
    "<device><name>SKUA2</name><cpu><name>CM33</name></cpu><peripherals>\n"
    + _peripheral("SEC_DMA0", 0x5003_0000)
    + _peripheral("DMA0", 0x4003_0000)
    + _peripheral("DMA1_S", 0x5003_4000, _REGISTERS)
    + _peripheral("DMA1_NS", 0x4003_4000, derived="DMA1_S")
    + _peripheral("DMA2_NS", 0x4003_8000, _REGISTERS + _block(0x400))
    + _peripheral("DMA2_S", 0x5003_8000, _REGISTERS + _block(0x400))
    + _peripheral("DMA3_NS", 0x4003_C000, _REGISTERS + _block(0x400))
    + _peripheral("DMA3_S", 0x5003_C000, _REGISTERS + _block(0x800))
    + _peripheral("DMA4_NS", 0x4004_0000, _REGISTERS)
    + _peripheral("DMA4_S", 0x5004_4000, derived="DMA4_NS")
    + _peripheral("CAN0_RAM", 0x4005_0000, _block(0x400, "buffer"))
    + "</peripherals></device>\n"
)

OWN_CORES = """cpu0: CPU.RiscV64 @ sysbus
    cpuType: "rv64gcv_zba"
cpu1: CPU.RiscV32 @ sysbus
    cpuType: "RV32IMAFDC"
cpu2: CPU.ARMv7R @ sysbus
    cpuType: "cortex-r5"
cpu3: CPU.CortexM @ sysbus
    cpuType: "cortex-m1"
ram0: Memory.MappedMemory @ sysbus new Bus.BusPointRegistration { address: 0x0; cpu: cpu0 }
    size: 0x10000
ram1: Memory.MappedMemory @ sysbus new Bus.BusPointRegistration { address: 0x0; cpu: cpu1 }
    size: 0x20000
main: Memory.MappedMemory @ sysbus 0x80000000
    size: 0x20000
"""

REPEATED = {
    "arrays.xml": ARRAYS,
    "units.xml": UNITS,
    "present.xml": PRESENT,
    "local.xml": LOCAL,
    "cores.pdsc": CORES,
    "aliases.pdsc": ALIASES,
    "twins.svd": TWINS,
    "own.repl": OWN_CORES,
}
"""By a name that such a file has."""
