"""Each kind of cores keeps the protocol of a session, and runs what it is given."""

from pathlib import Path

import pytest

from atoll.errors import UsageError
from atoll.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.samples import random_sample
from atoll_sim.build.wave_formats import WaveFormat
from atoll_sim.session import AcceleratorKind, CpuKind, Session, Work
from atoll_sim.waves.request import Waves

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
WAVES = Waves(path=Path("x.vcd"), format=WaveFormat.VCD, limit=1)

REFUSED: dict[tuple[CpuKind, AcceleratorKind, Waves | None], str] = {
    (CpuKind.RTL, AcceleratorKind.MODEL, None): "E095",
    (CpuKind.RTL, AcceleratorKind.MODEL, WAVES): "E095",
    **{(CpuKind.ISS, kind, WAVES): "E089" for kind in AcceleratorKind},
    **{(CpuKind.QEMU, kind, WAVES): "E089" for kind in AcceleratorKind},
    (CpuKind.NATIVE, AcceleratorKind.RTL, WAVES): "E089",
    (CpuKind.NATIVE, AcceleratorKind.MODEL, WAVES): "E089",
    (CpuKind.NATIVE, AcceleratorKind.NONE, WAVES): "E089",
}


@pytest.mark.parametrize("cpu", CpuKind)
@pytest.mark.parametrize("accelerator", AcceleratorKind)
@pytest.mark.parametrize("waves", [None, WAVES])
def test_what_each_kind_refuses(
    cpu: CpuKind, accelerator: AcceleratorKind, waves: Waves | None
) -> None:
    session: Session = cpu.session()
    if code := REFUSED.get((cpu, accelerator, waves)):
        with pytest.raises(UsageError) as caught:
            session.check(accelerator, waves)
        assert [fault.code for fault in caught.value.faults] == [code]
    else:
        session.check(accelerator, waves)


def test_the_words_and_who_runs_the_image() -> None:
    kinds = {str(kind): kind.session().runs_firmware for kind in CpuKind}
    assert kinds == {"rtl": True, "iss": True, "qemu": True, "native": False}


def test_a_session_without_firmware_runs_the_networks_themselves() -> None:
    compiled = compile_file(load_soc("lagoon"), DIGITS)
    samples = (random_sample(compiled.graph) * 2,)
    work = Work(models=(compiled,), samples=samples, accelerator=AcceleratorKind.MODEL)
    result = CpuKind.NATIVE.session().run(work)
    assert result.results == (0, 0)
    assert len(result.outputs) == 2
