# SPDX-License-Identifier: Apache-2.0
"""M9: the host's table drives a core's mailbox as it drives an accelerator."""

import ctypes
from collections.abc import Callable

import pytest

from atoll.bsp.headers import device_header, device_source
from atoll.resolve.soc import ResolvedSoc

HOOKS = ("init", "activate", "open", "close", "deactivate", "destroy")
CPU, DSP, NPU = range(3)

DRIVER = """
#include <stdint.h>
#include "atoll_devices.h"
struct atoll_{0} {{ const char *name; }};
#define ATOLL_{1}_CONTEXT(...) {{ 0 }}
int32_t atoll_{0}_wait(const struct atoll_{0} *, uint32_t);
"""
LISTENER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32)


class Probe:
    """Notes every hook as ``driver.hook`` with its number; the ones in `failing` fail.

    The accelerator's driver is noted as ``npu``, whatever it is called.
    """

    def __init__(self, library: ctypes.CDLL, driver: str) -> None:
        self.library = library
        self._driver = driver
        self.log: list[str] = []
        self.failing: dict[str, int] = {}
        self._listener = LISTENER(self._note)
        library.probe_tell(self._listener)

    def _note(self, what: bytes, number: int) -> int:
        name = what.decode().replace(f"{self._driver}.", "npu.")
        self.log.append(name if number < 0 else f"{name}({number})")
        return self.failing.get(name, 0)


SOURCE = """
static int32_t (*tell)(const char *, int32_t);
void probe_tell(int32_t (*listener)(const char *, int32_t));
void probe_tell(int32_t (*listener)(const char *, int32_t)) { tell = listener; }
"""


def fake_driver(driver: str, start: str) -> tuple[str, str]:
    """Return header and source of a driver that only tells; `start` are what its start takes."""
    taken = f"const struct atoll_{driver} *it"
    mark = "(void)list; " if "list" in start else ""
    header = DRIVER.format(driver, driver.upper())
    header += f"int32_t atoll_{driver}_start({taken}, {start});\n"
    source = (
        f"int32_t atoll_{driver}_start({taken}, {start}) {{"
        f' (void)it; {mark}return tell("{driver}.start", number); }}\n'
        f"int32_t atoll_{driver}_wait({taken}, uint32_t timeout) {{"
        f' (void)it; return tell("{driver}.wait", timeout > 1000000u ? 1 : 0); }}\n'
    )
    for hook in HOOKS:
        prototype = f"int32_t atoll_{driver}_{hook}(struct atoll_{driver} *it)"
        header += f"{prototype};\n"
        source += f'{prototype} {{ (void)it; return tell("{driver}.{hook}", -1); }}\n'
    return header, source


@pytest.fixture
def probe(
    duo: Callable[..., ResolvedSoc],
    host_library: Callable[..., ctypes.CDLL],
    tmp_path_factory: pytest.TempPathFactory,
) -> Probe:
    soc, folder = duo(), tmp_path_factory.mktemp("hooks")
    (npu,) = soc.npus
    (folder / "atoll_devices.h").write_text(device_header(soc))
    (folder / "atoll_devices.c").write_text(device_source(soc))
    includes, bodies = "", ""
    kinds = (("mailbox", "int32_t number"), (npu.spec.driver, "const void *list, int32_t number"))
    for driver, start in kinds:
        header, source = fake_driver(driver, start)
        (folder / f"{driver}.h").write_text(header)
        includes += f'#include "{driver}.h"\n'
        bodies += source
    (folder / "probe.c").write_text(includes + SOURCE + bodies)
    library = host_library(folder / "atoll_devices.c", folder / "probe.c", include=folder)
    return Probe(library, npu.spec.driver)


def test_m9_cores_come_up_before_accelerators_and_go_down_after_them(probe: Probe) -> None:
    assert probe.library.atoll_devices_start() == 0
    assert probe.library.atoll_devices_stop() == 0
    assert probe.log == [
        *("mailbox.init", "mailbox.activate", "npu.init", "npu.activate"),
        *("npu.deactivate", "npu.destroy", "mailbox.deactivate", "mailbox.destroy"),
    ]


def test_m9_a_command_opens_starts_waits_and_closes(probe: Probe) -> None:
    """A core has longer than an accelerator before it is given up."""
    assert probe.library.atoll_core_run(DSP, 5) == 0
    assert probe.log == ["mailbox.open", "mailbox.start(5)", "mailbox.wait(1)", "mailbox.close"]


@pytest.mark.parametrize(
    ("failing", "log"),
    [
        ("mailbox.open", ["mailbox.open"]),
        ("mailbox.start", ["mailbox.open", "mailbox.start(5)", "mailbox.close"]),
        (
            "mailbox.wait",
            ["mailbox.open", "mailbox.start(5)", "mailbox.wait(1)", "mailbox.close"],
        ),
    ],
)
def test_m9_a_failure_is_returned_and_what_was_opened_is_closed(
    probe: Probe, failing: str, log: list[str]
) -> None:
    probe.failing = {failing: -4, "mailbox.close": -8}
    assert probe.library.atoll_core_run(DSP, 5) == -4
    assert probe.log == log


def test_p6_core_and_accelerator_run_at_once(probe: Probe) -> None:
    assert probe.library.atoll_core_start(DSP, 9) == 0
    assert probe.library.atoll_npu_start(NPU, None, 1) == 0
    assert probe.library.atoll_npu_wait(NPU) == 0
    assert probe.library.atoll_core_wait(DSP) == 0
    assert [each for each in probe.log if "start" in each or "wait" in each] == [
        *("mailbox.start(9)", "npu.start(1)", "npu.wait(1)", "mailbox.wait(1)"),
    ]


def test_d1_a_core_is_no_accelerator_and_an_accelerator_no_core(probe: Probe) -> None:
    assert probe.library.atoll_npu_run(DSP, None, 1) == -1
    for device in (CPU, NPU, 7):
        assert probe.library.atoll_core_run(device, 1) == -1
        assert probe.library.atoll_core_wait(device) == -1
    assert probe.log == []
