# SPDX-License-Identifier: Apache-2.0
"""M8 and D2: the generated headers as C99 and as C++, every warning an error."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.picorv32 import PICORV32

from atoll.bsp.c_names import c_name
from atoll.bsp.emitters import bsp_files
from atoll.bsp.headers import device_header, drivers, model_header
from atoll.bsp.interface import GivenPool, ModelInterface, PoolShare, Port
from atoll.diagnostics.errors import ToolchainError
from atoll.resolve.soc import Npu, ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeModel = Callable[..., ModelInterface]
LANGUAGES = [("cc", "c99", "c"), ("c++", "c++11", "cpp"), ("c++", "c++20", "cpp")]

USER = """
{includes}
{includes}
int use(void);
int use(void) {{
  struct digits_inputs inputs = {{ DIGITS_INPUT_IMAGE__BUFFER }};
  struct digits_outputs outputs = {{ DIGITS_OUTPUT_SCORES_BUFFER }};
  const uint8_t *weights = atoll_pool_weights;
  struct atoll_workspace workspace;
  return digits_run(&inputs, &outputs) + (int)DIGITS_INPUT_IMAGE__SIZE + weights[0] +
         atoll_device_table[ATOLL_DEVICE_NPU].type + atoll_workspace_init(&workspace, 0, 0) +
         (int)atoll_heap_shared.used + (int)ATOLL_POOL_SHARED_HEAP_SIZE;
}}
static int meant(void) {{ return 0; }}
int call(int (*)(void));
int call(int (*pointer)(void)) {{ return pointer(); }}
ATOLL_STACK_CALLS(call, meant);
ATOLL_STACK_CALLS(call, use);
"""


def with_heap(soc: ResolvedSoc) -> ResolvedSoc:
    pools = (replace(p, heap=1024) if p.name == "shared" else p for p in soc.pools)
    return replace(soc, pools=tuple(pools))


@pytest.mark.parametrize(("compiler", "standard", "suffix"), LANGUAGES)
def test_m8_headers_compile_together_and_twice(
    tmp_path: Path,
    make_soc: MakeSoc,
    make_model: MakeModel,
    compiler: str,
    standard: str,
    suffix: str,
) -> None:
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"needs {compiler} for this machine")
    headers = {
        name: text
        for name, text in bsp_files(with_heap(make_soc()), make_model()).items()
        if name.endswith(".h")
    }
    for name, text in headers.items():
        (tmp_path / name).write_text(text)
    includes = "\n".join(f'#include "{name}"' for name in headers)
    source = tmp_path / f"user.{suffix}"
    source.write_text(USER.format(includes=includes))
    strict = ("-Wall", "-Wextra", "-Werror", "-pedantic")
    command = (found, f"-std={standard}", *strict, "-fsyntax-only", source.name)
    subprocess.run(command, cwd=tmp_path, check=True)


def test_a_program_can_quantise(
    tmp_path: Path, make_soc: MakeSoc, host_library: Callable[..., ctypes.CDLL]
) -> None:
    """Scales have all bits of float32, the least and the greatest too."""
    scales = [float(np.float32(scale)) for scale in (1 / 3, 1e-45, 3.4e38)]
    ports = tuple(
        Port(name=f"x{at}", size=1, address=0, shape=(1,), scale=scale, zero_point=-128 + at)
        for at, scale in enumerate(scales)
    )
    model = ModelInterface(name="m", inputs=ports, outputs=())
    (tmp_path / "m.h").write_text(model_header(make_soc(), model))
    macros = [f"M_INPUT_X{at}" for at in range(len(scales))]
    (tmp_path / "scales.c").write_text(
        '#include "m.h"\n'
        f"const float scales[] = {{{', '.join(f'{each}_SCALE' for each in macros)}}};\n"
        f"const int zeros[] = {{{', '.join(f'{each}_ZERO_POINT' for each in macros)}}};\n"
    )
    library = host_library(tmp_path / "scales.c", include=tmp_path)
    assert [*(ctypes.c_float * 3).in_dll(library, "scales")] == scales
    assert [*(ctypes.c_int * 3).in_dll(library, "zeros")] == [-128, -127, -126]


def test_m1_a_heap_is_ready_before_the_program_starts(
    tmp_path: Path,
    make_soc: MakeSoc,
    make_model: MakeModel,
    host_library: Callable[..., ctypes.CDLL],
) -> None:
    """The allocator of a heap needs no call first: its state is initialised data."""
    soc = with_heap(make_soc())
    pool = soc.pool("shared")
    for name, text in bsp_files(soc, make_model()).items():
        if name.startswith("atoll_") and name.endswith((".h", ".c")):
            (tmp_path / name).write_text(text)
    library = host_library(tmp_path / "atoll_pools.c", include=tmp_path)
    base = ctypes.c_void_p.in_dll(library, "atoll_heap_shared")
    assert base.value == pool.heap_origin == pool.region.end - 1024
    words = (ctypes.c_uint32 * 6).in_dll(library, "atoll_heap_shared")
    assert list(words)[2:5] == [1024, 0, 0]


def test_d2_the_table_has_each_device_at_its_ordinal(
    tmp_path: Path,
    make_soc: MakeSoc,
    make_model: MakeModel,
    host_library: Callable[..., ctypes.CDLL],
) -> None:
    """D2: what C reads is what Python resolved."""

    class Row(ctypes.Structure):
        _fields_ = (
            ("name", ctypes.c_char_p),
            ("type", ctypes.c_int32),
            ("id", ctypes.c_int32),
            ("clock", ctypes.c_uint32),
            ("registers", ctypes.c_size_t),
        )

    soc = make_soc(npus=())
    for name, text in bsp_files(soc, ModelInterface(name="m", inputs=(), outputs=())).items():
        (tmp_path / name).write_text(text)
    library = host_library(tmp_path / "atoll_devices.c", include=tmp_path)
    table = (Row * len(soc.devices)).in_dll(library, "atoll_device_table")
    rows = [(row.name.decode(), row.type, row.id, row.clock, row.registers) for row in table]
    assert rows == [
        (device.name, device.device_type, device.device_id, device.clock, 0)
        for device in soc.devices
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [("input+", "input_"), ("3rd", "_3rd"), ("int", "int_"), ("class", "class_"), ("", "_")],
)
def test_m8_names_are_sanitised(text: str, name: str) -> None:
    assert c_name(text) == name


def test_m8_tensors_whose_names_clash_are_refused_together(make_soc: MakeSoc) -> None:
    ports = tuple(Port(name=name, size=4, address=0) for name in ("a+", "a-", "b", "B"))
    model = ModelInterface(name="m", inputs=ports, outputs=ports[:1])
    with pytest.raises(ToolchainError) as caught:
        model_header(make_soc(), model)
    messages = [fault.message for fault in caught.value.faults]
    assert {fault.code for fault in caught.value.faults} == {"E075"}
    assert messages[0] == "input 'a+' and input 'a-' would both be called 'M_INPUT_A__SIZE' in m.h"
    assert len(messages) == 2


def test_a_device_named_like_a_property_of_another_is_refused(
    make_soc: MakeSoc, make_npu: Callable[..., Npu]
) -> None:
    soc = make_soc(npus=(make_npu("npu", 1), make_npu("npu_irq", 2)))
    with pytest.raises(ToolchainError, match="'ATOLL_DEVICE_NPU_IRQ'"):
        device_header(soc)


@pytest.mark.parametrize("driver", ["doorbell", "ethos_u"])
def test_a_driver_comes_with_the_one_that_it_calls(
    driver: str, make_soc: MakeSoc, make_npu: Callable[..., Npu]
) -> None:
    npu = make_npu("npu", 1)
    soc = make_soc(npus=(replace(npu, spec=replace(npu.spec, driver=driver)),))
    assert drivers(soc) == tuple(sorted(("command_list", driver)))


def test_an_unknown_driver_or_core_lists_the_known(
    make_soc: MakeSoc, make_model: MakeModel, make_npu: Callable[..., Npu]
) -> None:
    npu = make_npu("npu", 1)
    odd = replace(npu, spec=replace(npu.spec, driver="coral"))
    with pytest.raises(ToolchainError, match="no C driver 'coral' for 'npu'") as caught:
        bsp_files(make_soc(npus=(odd,)), make_model())
    assert "one of command_list" in str(caught.value)
    soc = make_soc()
    other = make_soc(
        cpu=replace(soc.host_cpu, spec=replace(PICORV32, name="ibex", startup="ibex.S"))
    )
    with pytest.raises(
        ToolchainError, match=r"no start-up code 'ibex\.S' for core 'ibex'"
    ) as caught:
        bsp_files(other, make_model())
    assert "one of cortex_a64.S, cortex_m.S, picorv32.S" in str(caught.value)


WHOLE = """
#include "net.h"
#include "net.h"
int use(void);
int use(void) {{
{arguments}
  return net_run({names}) + (int)NET_SHARED_WORKSPACE_SIZE + (int)NET_WEIGHTS_CONSTANTS_SIZE;
}}
"""
ARGUMENTS = {
    "inputs": "  struct net_inputs inputs = { NET_INPUT_IMAGE__BUFFER };",
    "outputs": "  struct net_outputs outputs = { NET_OUTPUT_BOXES_BUFFER };",
    "pools": "  static uint8_t bytes[96]; struct net_pools pools = { bytes };",
    "devices": "  struct net_devices devices = { 1, 2 };",
}


def whole(present: set[str]) -> ModelInterface:
    """Return a model whose run function takes the structs in `present`."""
    ports = {
        "inputs": (Port(name="image+", size=64, address=0x2000_0000),),
        "outputs": (Port(name="boxes", size=16, address=0x2000_0040, dtype="int32"),),
    }
    return ModelInterface(
        name="net",
        inputs=ports["inputs"],
        outputs=ports["outputs"],
        shares=(
            PoolShare(pool="shared", workspace=96, constants=0),
            PoolShare(pool="weights", workspace=0, constants=24),
        ),
        pools=(GivenPool(section="DTCM", pool="shared", size=96, alignment=16),)
        if "pools" in present
        else (),
        devices=("new", "npu") if "devices" in present else (),
        map_inputs="inputs" not in present,
        map_outputs="outputs" not in present,
    )


@pytest.mark.parametrize(("compiler", "standard", "suffix"), LANGUAGES)
@pytest.mark.parametrize("number", range(16))
def test_m8_the_run_function_takes_what_is_not_empty(
    tmp_path: Path, make_soc: MakeSoc, number: int, compiler: str, standard: str, suffix: str
) -> None:
    """Every combination of structs; a device may have a name that only C++ reserves."""
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"needs {compiler} for this machine")
    names = tuple(name for bit, name in enumerate(ARGUMENTS) if number >> bit & 1)
    model = whole(set(names))
    assert model.parameters == names
    (tmp_path / "net.h").write_text(model_header(make_soc(), model))
    lines = [ARGUMENTS[name] for name in names]
    lines += [
        f"  struct net_{port} {port} = net_map_{port}(); (void){port};"
        for port in sorted({"inputs", "outputs"} - set(names))
    ]
    call = ", ".join(f"&{name}" for name in names)
    source = tmp_path / f"user.{suffix}"
    source.write_text(WHOLE.format(arguments="\n".join(lines), names=call))
    strict = ("-Wall", "-Wextra", "-Werror", "-pedantic")
    command = (found, f"-std={standard}", *strict, "-fsyntax-only", source.name)
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", ["command_list", "stdint", "atoll", "atoll_devices", "atoll_npu"])
def test_m8_a_model_named_like_another_header_is_refused(
    make_soc: MakeSoc, make_model: MakeModel, name: str
) -> None:
    with pytest.raises(ToolchainError, match=f"would both be called '{name}.h'") as caught:
        bsp_files(make_soc(), make_model(name))
    assert caught.value.faults[0].code == "E075"
