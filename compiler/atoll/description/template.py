"""The description that ``atoll new NAME`` starts a chip with."""

from pydantic import TypeAdapter, ValidationError

from atoll.description.fields import Name
from atoll.errors import UsageError

_TEMPLATE = """\
# yaml-language-server: $schema=./soc.schema.json
# A chip with one core, one accelerator, a ROM and a RAM. Sizes and clocks carry units; a name is
# lower-case letters, digits and _. 'atoll check FILE' checks the file, 'atoll explain FILE' shows
# all that follows from it; docs/description.md explains every key.
soc: {name}
version: 1

devices:
  cpu:
    kind: cpu
    isa: rv32imc  # or rv32im
    core: picorv32  # the core that the simulator instantiates
    clock: 100 MHz
    # Interrupt handlers use the part of the stack called 'interrupts'.
    stack: {{memory: sram, size: 8 KiB, interrupts: 512 B}}
    # Kernel-local buffers up to this size may live on the stack.
    limits: {{max_stack_alloca_size: 1 KiB}}
  npu:
    kind: npu
    accelerator: reef  # an installed one, or the path of your own YAML
    params: {{input_lanes: 8, output_lanes: 8}}
    registers: 0x4000_0000  # 4 KiB of registers at the host
    irq: 3
    clock: 100 MHz
    # runs: [CONV_2D]  # narrows the operators; by default all that the accelerator can

memories:
  flash: {{origin: 0x0000_0000, size: 1 MiB, kind: rom, width: 4, read_latency: 2}}
  sram: {{origin: 0x2000_0000, size: 256 KiB, kind: ram, width: 8, banks: 4}}

# Buffers live in pools. Each pool says of every device whether it may read (ro), read and write
# (rw) or not touch it at all (none): by name in 'reach', and of all that 'reach' does not name in
# 'others'. A pool without a size takes what is left of its memory.
pools:
  weights: {{memory: flash, role: constants, others: ro}}
  shared: {{memory: sram, role: workspace, reach: {{cpu: rw, npu: rw}}, others: none}}

host: cpu  # starts everything; the first CPU by default
"""


def starting_description(name: str) -> str:
    """Return a commented description of a small chip called `name`, ready to build.

    Raises:
        UsageError: `name` cannot name a chip.
    """
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError as error:
        expectation = error.errors()[0]["msg"]
        raise UsageError(
            "E099",
            f"'{name}' cannot name a chip: it must be {expectation}",
            remedy="choose a name such as my_chip",
        ) from error
    return _TEMPLATE.format(name=name)
