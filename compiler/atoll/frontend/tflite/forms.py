# SPDX-License-Identifier: Apache-2.0
"""Which kinds of operators serve the codes of TFLite files: Atoll's own and other packages'."""

from collections.abc import Iterable, Mapping
from functools import cache, cached_property

from tflite.BuiltinOptions import BuiltinOptions

from atoll.diagnostics.errors import AtollError
from atoll.frontend.tflite.flatbuffer import Schema
from atoll.frontend.tflite.schema import with_options
from atoll.ops.registry import KINDS
from atoll.ops.tflite_form import TfliteForm
from atoll.plugins.loading import CORRECT_MEMBER
from atoll.records import dataclass

CUSTOM = "CUSTOM "
AT_EDGES = frozenset({"CALL_ONCE", "DEQUANTIZE", "IF", "READ_VARIABLE", "VAR_HANDLE", "WHILE"})
"""Codes that no kind serves, and that may be left out."""

_WITHOUT_KIND = frozenset({"CallOnceOptions", "IfOptions", "VarHandleOptions", "WhileOptions"})


@dataclass(frozen=True)
class Forms:
    """How files hold the kinds that are known.

    Attributes:
        by_kind: the form of each kind that files may hold.
    """

    by_kind: Mapping[str, TfliteForm]

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """Kinds by code; of two that serve one code the first counts."""
        found: dict[str, str] = {}
        for kind, form in self.by_kind.items():
            found.setdefault(form.code, kind)
        return found

    @cached_property
    def by_code(self) -> Mapping[str, TfliteForm]:
        """Forms by code."""
        return {code: self.by_kind[kind] for code, kind in self.kinds.items()}

    @cached_property
    def tables(self) -> Mapping[int, str]:
        """Names of the option tables by their number in the schema."""
        names = [form.table for form in self.by_kind.values() if form.table]
        return {getattr(BuiltinOptions, name): name for name in (*names, *_WITHOUT_KIND)}

    @cached_property
    def schema(self) -> Schema:
        """What of a file is read."""
        names = {*self.tables.values()} - _WITHOUT_KIND
        fields: dict[str, dict[int, int]] = {name: {} for name in names}
        for form in self.by_kind.values():
            if form.table:
                fields[form.table] |= form.fields
        return with_options(self.tables, fields)


def forms_for(codes: Iterable[str]) -> Forms:
    """Return the forms of Atoll's kinds, and of all where they do not serve every code.

    Raises:
        AtollError: another package's kind cannot be loaded or used.
    """
    own = _own()
    if {*codes} - AT_EDGES <= own.by_code.keys():
        return own
    others = _forms(KINDS.others())
    for kind, form in others.items():
        if wrong := _wrong(kind, form):
            raise AtollError("E110", f"operator '{kind}': {wrong}", remedy=CORRECT_MEMBER)
    return Forms({**own.by_kind, **others})


@cache
def _own() -> Forms:
    return Forms(_forms(KINDS.own))


def _wrong(kind: str, form: object) -> str:
    """Say why files cannot hold another package's kind as it says, or nothing."""
    if not (kind.isidentifier() and kind.isascii() and kind == kind.lower()):
        return "its name is no identifier in lower case"
    if not isinstance(form, TfliteForm):
        return "its 'tflite' is no TfliteForm"
    known = not form.table or hasattr(BuiltinOptions, form.table)
    return "" if known else f"TFLite has no option table '{form.table}'"


def _forms(kinds: Iterable[str]) -> Mapping[str, TfliteForm]:
    found = ((kind, KINDS.get(kind).tflite) for kind in kinds)
    return {kind: form for kind, form in found if form is not None}
