# SPDX-License-Identifier: Apache-2.0
"""Where packages wait by the comparator of a hart: kernels find it themselves, others are told."""

from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_board.package import Board, package_files

HART = ("devices.cpu.core=ibex", "devices.cpu.isa=rv32imc", "devices.cpu.hart=2")


def text_of(soc: ResolvedSoc, emitter: str, end: str) -> str:
    files = package_files(Board(soc=soc), [emitter])[emitter]
    (text,) = (entry.data.decode() for path, entry in files.items() if path.endswith(end))
    return text


def test_kernels_add_the_hart_to_the_first_comparator() -> None:
    """Both add eight times the number of the hart that they run on."""
    config = text_of(load_soc("fu740"), "freertos", "FreeRTOSConfig.h")
    assert "configMTIMECMP_BASE_ADDRESS 0x02004000ul" in config
    soc = load_soc("lagoon", HART)
    assert "CONFIG_RV_BOOT_HART=2" in text_of(soc, "zephyr", "_defconfig")
    assert "<0x200bff8 8>, <0x2004000 8>" in text_of(soc, "zephyr", ".dts")


def test_renode_has_one_interruptor_for_all_harts() -> None:
    platform = text_of(load_soc("fu740"), "renode", ".repl")
    assert platform.count("CoreLevelInterruptor") == 1
    assert "numberOfTargets: 5" in platform
    for hart, core in enumerate(("s7", "u74_0", "u74_1", "u74_2", "u74_3")):
        assert f"[{2 * hart}, {2 * hart + 1}] -> {core}@[3, 7]" in platform
        assert f"hartId: {hart}" in platform
