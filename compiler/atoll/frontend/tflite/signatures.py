# SPDX-License-Identifier: Apache-2.0
"""Functions of a TFLite file by name: ``model.tflite#encode`` is that of signature `encode`."""

from collections.abc import Mapping
from pathlib import Path

from tflite.Model import Model

from atoll.description.faults import nearest
from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite import flatbuffer
from atoll.frontend.tflite.root_table import Front, fields_of
from atoll.frontend.tflite.schema import SCHEMA

SEPARATOR = "#"
_SUBGRAPHS, _SIGNATURES = 2, 7


def file_of(path: Path) -> Path:
    """Return the file of which `path` may choose a signature."""
    file, _, signature = path.name.rpartition(SEPARATOR)
    return path.with_name(file) if file and signature and not path.exists() else path


def signature_of(path: Path) -> str:
    """Return the signature that `path` chooses, "" if it is the name of a file."""
    return "" if file_of(path) == path else path.name.rpartition(SEPARATOR)[2]


def functions(model: Model) -> Mapping[str, int]:
    """Return the number of the subgraph of each signature."""
    found = (model.SignatureDefs(index) for index in range(model.SignatureDefsLength()))
    return {
        (each.SignatureKey() or b"").decode(errors="replace"): each.SubgraphIndex()
        for each in found
    }


def with_function_first(source: bytes, signature: str) -> bytes:
    """Return the file with a signature's subgraph first, in exchange, and without signatures.

    Raises:
        ModelError: E051, an offset leads out of the file; E055, there is no such signature.
    """
    flatbuffer.verify(source, SCHEMA, "model")
    model = Model.GetRootAs(source, 0)
    known = functions(model)
    chosen = known.get(signature, model.SubgraphsLength())
    if chosen >= model.SubgraphsLength():
        remedy = nearest(signature, known, "leave out what follows the '#'")
        raise ModelError("E055", f"has no signature '{signature}'", remedy=remedy)
    subgraphs = [model.Subgraphs(index)._tab.Pos for index in range(model.SubgraphsLength())]
    subgraphs[0], subgraphs[chosen] = subgraphs[chosen], subgraphs[0]
    fields = {slot: at for slot, at in fields_of(model, source) if slot != _SIGNATURES}
    front = Front()
    front.list(front.root(fields, (_SUBGRAPHS,))[_SUBGRAPHS], subgraphs)
    return front.before(source)
