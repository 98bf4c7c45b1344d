# SPDX-License-Identifier: Apache-2.0
"""What Vela is told of the chip, for those who call it themselves."""

import shlex
from collections.abc import Mapping
from functools import partial

from atoll.soc_checks import faults_of
from atoll.vela.configuration import configuration_of
from atoll.vela.ini_file import section_lines
from atoll.vela.memories import npu_of, target_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import opening_sentence


def vela_files(board: Board) -> Mapping[str, Entry]:
    """Return ``vela/<chip>.ini``; nothing if the chip has no Ethos-U that Vela can serve.

    Raises:
        UsageError: E138, E120; Vela's file of the chip cannot be read, or has no such sections.
    """
    npu = npu_of(board.soc)
    if npu is None or faults_of(partial(target_of, board.soc, npu)):
        return {}
    path, target = f"vela/{board.soc.name}.ini", target_of(board.soc, npu)
    config = configuration_of(board.soc, target)
    options = shlex.join(("--system-config", config.system, "--memory-mode", config.mode))
    call = f"vela --accelerator-config {target.accelerator} --config ./{path} {options} MODEL"
    lines = (f"; {opening_sentence(board)}", f"; {call}", "", *section_lines(config))
    return {path: generated_entry("\n".join(lines) + "\n")}
