# SPDX-License-Identifier: Apache-2.0
"""What Vela is told of the chip, for those who call it themselves."""

from collections.abc import Mapping
from functools import partial

from atoll.soc_checks import faults_of
from atoll.vela.memories import NAME, npu_of, target_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import opening_sentence


def vela_files(board: Board) -> Mapping[str, Entry]:
    """Return ``vela/<chip>.ini``; nothing if the chip has no Ethos-U that Vela can serve."""
    npu = npu_of(board.soc)
    if npu is None or faults_of(partial(target_of, board.soc, npu)):
        return {}
    path, target = f"vela/{board.soc.name}.ini", target_of(board.soc, npu)
    options = f"--system-config {NAME} --memory-mode {NAME}"
    call = f"vela --accelerator-config {target.accelerator} --config ./{path} {options} MODEL"
    text = f"; {opening_sentence(board)}\n; {call}\n\n{target.config}"
    return {path: generated_entry(text)}
