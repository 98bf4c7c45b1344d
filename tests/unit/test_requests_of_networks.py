# SPDX-License-Identifier: Apache-2.0
"""What options and files ask of one of several networks, and of all of them."""

from pathlib import Path

import pytest

from atoll.cli.options import PlacementOptions
from atoll.cli.requests import build_options
from atoll.diagnostics.errors import DescriptionError, UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = (
    EXAMPLES / "01_digits" / "digits_int8.tflite",
    EXAMPLES / "03_two_networks" / "sampler.tflite",
)


def test_a_thread_of_one_network_wins_over_that_of_all() -> None:
    asked = PlacementOptions(thread=["cpu=ui", "digits_int8:cpu=net"])
    threads = [each.requests.model.threads for each in build_options(MODELS, asked)]
    assert threads == [{"cpu": "net"}, {"cpu": "ui"}]


def test_a_role_pin_may_be_that_of_one_network() -> None:
    asked = PlacementOptions(
        pin_role=["workspace=lp", "constants=w", "digits_int8:workspace=rp,lp:in"]
    )
    roles = [each.requests.model.pin_roles for each in build_options(MODELS, asked)]
    assert [str(pin) for each in roles for pin in each.workspace] == ["rp,lp:in", "lp:both"]
    assert [str(pin) for each in roles for pin in each.constants] == ["w:both", "w:both"]


def test_two_threads_of_one_network_still_contradict() -> None:
    asked = PlacementOptions(thread=["digits_int8:cpu=ui", "digits_int8:cpu=net"])
    with pytest.raises(UsageError, match="contradict each other"):
        build_options(MODELS, asked)


def test_a_network_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"E151.*'--pin-role digit:workspace=lp'"):
        build_options(MODELS, PlacementOptions(pin_role=["digit:workspace=lp"]))


@pytest.mark.parametrize(
    ("asked", "network"),
    [
        ("place: {mul_5: cpu}", "sampler"),
        ("free: [add_3_out]", "digits_int8"),
        ("set_scope: [{operators: 'conv_2d_[05]', scope: global}]", "digits_int8"),
        ("cuts: [{first: conv_2d_0, last: add_3, stripes: 2}]", "digits_int8"),
    ],
)
def test_a_key_is_moved_to_a_network_that_has_its_names(
    asked: str, network: str, tmp_path: Path
) -> None:
    build = tmp_path / "build.yaml"
    build.write_text(asked)
    key = asked.partition(":")[0]
    with pytest.raises(DescriptionError) as caught:
        build_options(MODELS, PlacementOptions(build_file=build))
    (fault,) = caught.value.faults
    assert (fault.code, fault.remedy) == ("E150", f"move it to 'networks.{network}.{key}'")
