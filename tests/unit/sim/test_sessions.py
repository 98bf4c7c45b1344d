# SPDX-License-Identifier: Apache-2.0
"""Each kind of cores keeps the protocol of a session, and runs what it is given."""

from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import UsageError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.backends.session import AcceleratorKind, Backends, CpuKind, Session, Work
from atoll_sim.build.wave_formats import WaveFormat
from atoll_sim.waves.request import Waves

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
WAVES = Waves(path=Path("x.vcd"), format=WaveFormat.VCD, limit=1)

REFUSED = {CpuKind.ISS: "E089", CpuKind.QEMU: "E089", CpuKind.NATIVE: "E089"}
"""What cores say that have no waveforms."""


@pytest.mark.parametrize("cpu", CpuKind)
def test_what_each_kind_refuses(cpu: CpuKind) -> None:
    session: Session = cpu.session()
    session.check(None)
    if code := REFUSED.get(cpu):
        with pytest.raises(UsageError) as caught:
            session.check(WAVES)
        assert [fault.code for fault in caught.value.faults] == [code]
    else:
        session.check(WAVES)


def test_the_words_and_who_runs_the_image() -> None:
    kinds = {str(kind): kind.session().runs_firmware for kind in CpuKind}
    assert kinds == {"rtl": True, "iss": True, "qemu": True, "native": False}


def test_a_session_without_firmware_runs_the_networks_themselves() -> None:
    compiled = compile_file(load_soc("lagoon"), DIGITS)
    samples = (random_sample(compiled.graph) * 2,)
    work = Work(models=(compiled,), samples=samples, backends=Backends(AcceleratorKind.MODEL))
    result = CpuKind.NATIVE.session().run(work)
    assert result.results == (0, 0)
    assert len(result.outputs) == 2
