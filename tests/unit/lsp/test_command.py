# SPDX-License-Identifier: Apache-2.0
"""`atoll lsp` where its package is missing; what is told apart by the keys of a file."""

import importlib.util

import pytest

from atoll.diagnostics.errors import UsageError
from atoll_lsp.analysis import kind_of
from atoll_lsp.cli import lsp


def test_without_pygls_the_remedy_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "atoll_lsp.cli.find_spec", lambda name: None if name == "pygls" else found(name)
    )
    with pytest.raises(UsageError) as caught:
        lsp()
    assert caught.value.code == "E232"
    assert caught.value.remedy == "install it with: pip install 'atoll[lsp]'"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("soc: x\n", "soc"),
        ("{soc: x, version: 1}\n", "soc"),
        ("version: 1\ndevices:\n  cpu: {core: ibex}\n", "soc"),
        ("extends: lagoon\n", "soc"),
        ("# nothing yet\n\n", "soc"),
        ("core: mine\n", "core"),
        ("accelerator: mine\noperators:\n", "accelerator"),
        ("function_unit: mine\n", "function_unit"),
        ("place: {conv: npu}\n", "build"),
        ("version: '3'\nservices:\n  a: {}\nnetworks:\n  b: {}\n", None),
        ("name: ci\non: push\n", None),
        ("soc", None),
    ],
)
def test_kinds(text: str, kind: str | None) -> None:
    assert kind_of(text) == kind
