# SPDX-License-Identifier: Apache-2.0
"""What the folder of a build tells, compiled again as the simulator does."""

from pathlib import Path
from typing import TYPE_CHECKING

import atoll
from atoll.api.beside import function_of
from atoll.description.tree import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atoll.api.driver import Compiled


def compilation_at(folder: Path) -> atoll.Compilation:
    """Return the networks of a build folder; their chip cannot be changed.

    Raises:
        UsageError: E096; the folder is damaged. E090; no simulator is installed, which reads it.
    """
    models: Sequence[Compiled] = function_of(
        "atoll_sim.api.compiled_networks:open_folder", "report"
    )(folder).models
    soc = models[0].soc
    return atoll.Compilation(
        atoll.Soc(soc.name, soc, Table({}, None), folder),
        tuple(
            atoll.CompiledNetwork(
                atoll.Network(each.graph.name, each.network, each.source), each.plan.optimal, each
            )
            for each in models
        ),
    )
