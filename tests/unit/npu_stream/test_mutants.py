# SPDX-License-Identifier: Apache-2.0
"""A wrong base address, region or command is noticed where streams are moved, planned, linked.

`python -m benchmarks.ethos_u` plants more, in random networks.
"""

from pathlib import Path

import pytest
from tests import tflite_builder
from tests.npu_mutants import (
    block_mutants,
    image_mutants,
    judged,
    noticed_in_image,
    stream_mutants,
)
from tests.unit.vela.test_edges import core_between, two_inputs, two_outputs

from atoll.artifacts.build_tree import build
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.engines.ethos_u.emitter import EthosUEmitter

pytest.importorskip("ethosu.vela")

CASES = {"core_between": core_between, "two_inputs": two_inputs, "two_outputs": two_outputs}


@pytest.fixture(scope="module", params=CASES)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("networks") / f"{request.param}.tflite"
    path.write_bytes(tflite_builder.write(CASES[request.param]()))
    return path


def compiled(path: Path) -> Compiled:
    return compile_file(load_soc("corstone300_u55"), path)


def test_streams_that_were_moved_wrongly_are_refused(network: Path) -> None:
    """Each register of a region or an address that is set wrongly, and each that is not set.

    The judge is asked itself: a network of which it refuses a part is compiled without that part.
    """
    with judged() as parts:
        compiled(network)
    assert all(part.accepted for part in parts)
    assert not parts[-1].refuses(parts[-1].stream)
    mutants = [*stream_mutants(parts[-1].stream)]
    assert len(mutants) > 8
    for name, stream in mutants:
        assert parts[-1].refuses(stream), name


def test_blocks_with_wrong_addresses_are_refused(
    network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = EthosUEmitter.encode
    for name, change in block_mutants():
        monkeypatch.setattr(EthosUEmitter, "encode", lambda *a, c=change: c(encode(*a)))
        with pytest.raises(AtollError) as raised:
            compiled(network)
        assert {fault.code for fault in raised.value.faults} <= {"E121", "E171"}, name


def test_images_that_were_changed_disagree(network: Path, tmp_path: Path) -> None:
    tree = build((compiled(network),), tmp_path / "build")
    (elf,) = tree.firmware.elves
    soc = load_soc("corstone300_u55")
    assert noticed_in_image(soc, elf.read_bytes(), tmp_path) == set()
    mutants = [*image_mutants(elf.read_bytes())]
    assert len(mutants) > 8
    for name, data in mutants:
        assert "E172" in noticed_in_image(soc, data, tmp_path), name
