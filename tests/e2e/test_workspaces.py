"""W1: what is sized at compile time has an offset in a pool, and the image no allocator call."""

from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.build_tree import build
from atoll.pipeline import compile_file
from atoll.resolve import load_soc

DEEP = Path(__file__).parents[1] / "data" / "deep.yaml"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"


def test_w1_static_workspace_is_an_offset_and_the_image_has_no_allocator(tmp_path: Path) -> None:
    """With no buffer allowed on the stack, the kernel's scratch is workspace."""
    soc = load_soc("lagoon", ("devices.cpu.limits.max_stack_alloca_size=0",))
    compiled = compile_file(soc, DIGITS)
    scratch = compiled.plan.placements["softmax_9_powers"]
    assert scratch.offset + 40 <= soc.pool(scratch.pool).region.size
    tree = build(compiled, tmp_path / "built")
    with tree.firmware.elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        names = {symbol.name for symbol in table.iter_symbols()}
    assert f"{compiled.graph.name}_run" in names
    assert not [name for name in names if "alloc" in name]


def test_k1_the_image_names_the_stack_of_every_thread(tmp_path: Path) -> None:
    soc = load_soc(DEEP)
    tree = build(compile_file(soc, DIGITS), tmp_path / "built")
    with tree.firmware.elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        values = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
    ends = [values[f"atoll_io_stack_{end}"] for end in ("limit", "top")]
    (stack,) = soc.host_cpu.threads
    assert ends == [stack.origin, stack.end]
