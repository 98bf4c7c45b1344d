# SPDX-License-Identifier: Apache-2.0
"""What is known before Verilator is called: cores without RTL, folders of a compiler's headers."""

import pytest

from atoll.diagnostics.errors import SimulationError
from atoll.resolve import load_soc
from atoll_sim.build.elaborate import elaborate
from atoll_sim.build.tools import _search_folders

SAID = """\
#include "..." search starts here:
#include <...> search starts here:
 /usr/lib/zig/include
 /usr/lib/zig/../include
End of search list.
 /not/searched
"""


def test_a_core_without_rtl_is_refused() -> None:
    soc = load_soc("lagoon", ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main"))
    with pytest.raises(SimulationError, match="E080"):
        elaborate(soc)


def test_folders_of_headers_end_with_the_list() -> None:
    assert [*_search_folders(SAID)] == ["/usr/lib/zig/include", "/usr/lib/include"]
