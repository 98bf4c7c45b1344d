# SPDX-License-Identifier: Apache-2.0
"""Rows of a sweep as Parquet: parts while it goes on, and one table in the order of the points."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atoll.description.sweep import (
    CONFIRMED,
    OF_A_NETWORK,
    OTHER_COLUMNS,
    PLAN,
    Sweep,
    figures_asked,
)
from atoll.description.sweep_values import AxisValue, magnitude
from atoll.diagnostics.errors import UsageError
from atoll.utils.files import replace_file
from atoll_sweep.asker import Row, logic_counts
from atoll_sweep.space import choice_of

_COUNTS = ("cycles", "cycles_low", "cycles_high", "ram_bytes", "rom_bytes")
SWEEP_KEY = b"atoll.sweep"
"""Of the metadata of each file: the sweep file as JSON."""

_OUTCOME = ("status", "fault", "network")
_ROWS_OF_A_GROUP = 2**16


def schema_of(sweep: Sweep, document: str, functions: Iterable[str]) -> pa.Schema:
    """Return the columns of a sweep's table; the sweep file is in its metadata."""
    fields = [pa.field("point", pa.int64(), nullable=False)]
    fields += [pa.field(name, _type_of(values)) for name, values in sweep.axes.items()]
    fields += [pa.field("status", pa.string(), nullable=False)]
    fields += [pa.field(name, pa.string()) for name in ("fault", "network")]
    fields += [pa.field(name, pa.int64()) for name in _COUNTS]
    fields += [pa.field("time_us", pa.float64())]
    moved = ("moved_bytes",) if "moved_bytes" in figures_asked(sweep) else ()
    fields += [pa.field(name, pa.int64()) for name in (*moved, "energy_pj", "area_um2")]
    fields += [pa.field(name, pa.string()) for name in ("basis", "energy_basis", "area_basis")]
    if logic_counts(sweep):
        areas = ("logic_um2", "logic_um2_low", "logic_um2_high", "sram_bytes")
        fields += [pa.field(name, pa.int64()) for name in areas]
        fields += [pa.field("logic_basis", pa.string())]
    networks = sweep.model.networks
    for network in networks if len(networks) > 1 else ():
        fields += [pa.field(f"{network}.{name}", pa.int64()) for name in OF_A_NETWORK]
    fields += [pa.field(name, pa.float64()) for name in functions]
    return pa.schema(fields, metadata={SWEEP_KEY: document})


def schema_of_stage(stage: str, document: str) -> pa.Schema:
    """Return the columns of points that are built or run."""
    fields = [pa.field("point", pa.int64(), nullable=False)]
    fields += [pa.field(name, pa.string()) for name in _OUTCOME]
    fields += [pa.field(name, pa.int64()) for name in CONFIRMED[stage]]
    return pa.schema(fields, metadata={SWEEP_KEY: document})


def with_stages(tables: Mapping[str, pa.Table], first: str) -> pa.Table:
    """Return the table of all points with what later stages say of some.

    Those that are planned after all were estimated have the figures of the plan, and `stage` says
    so; what was built or ran has columns such as ``rtl.cycles``.
    """
    joined = tables[first]
    if PLAN in tables:
        joined = _last_rows([joined, tables[PLAN]])
        planned = {*tables[PLAN].column("point").to_pylist()}
        points = joined.column("point").to_pylist()
        stages = [PLAN if point in planned else "estimate" for point in points]
        joined = joined.append_column("stage", pa.array(stages, pa.string()))
    for stage, figures in CONFIRMED.items():
        if stage in tables:
            done = {row["point"]: row for row in tables[stage].to_pylist()}
            points = joined.column("point").to_pylist()
            for name in (*_OUTCOME, *figures):
                values = [done[point][name] if point in done else None for point in points]
                column = pa.array(values, tables[stage].schema.field(name).type)
                joined = joined.append_column(f"{stage}.{name}", column)
    return joined


def _type_of(values: Sequence[AxisValue]) -> pa.DataType:
    """Return the type of an axis: whole numbers, also of bytes and hertz, numbers, or texts."""
    labels = [each.label for each in values]
    known = [magnitude(each) for each in labels]
    if len({type(each) for each in labels}) > 1 or None in known:
        return pa.string()
    return pa.int64() if all(isinstance(each, int) for each in known) else pa.float64()


def to_table(rows: Sequence[Row], sweep: Sweep, schema: pa.Schema) -> pa.Table:
    """Return rows as a table, with the values of their axes."""
    whole = []
    for row in rows:
        choice = choice_of(row["point"], sweep.lengths)
        axes = {
            name: _value(values[one], schema.field(name))
            for (name, values), one in zip(sweep.axes.items(), choice, strict=True)
            if name in schema.names
        }
        whole.append(row | axes)
    return pa.Table.from_pylist(whole, schema=schema)


def _value(value: AxisValue, field: pa.Field) -> object:
    if pa.types.is_string(field.type):
        return json.dumps(value.label) if isinstance(value.label, bool) else str(value.label)
    return magnitude(value.label)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table whole or not at all.

    Raises:
        UsageError: E092; it cannot be written.
    """
    with replace_file(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=_ROWS_OF_A_GROUP)


def read_tables(paths: Iterable[Path], schema: pa.Schema) -> pa.Table:
    """Return the rows of several files in the order of their points; of a point the last counts.

    Raises:
        UsageError: E246; a file is damaged, or of another sweep.
    """
    return _last_rows([schema.empty_table(), *(_read(path, schema) for path in paths)])


def _last_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of tables in the order of their points; of a point the last one counts."""
    joined = pa.concat_tables(tables)
    last = {point: place for place, point in enumerate(joined.column("point").to_pylist())}
    places = pa.array([last[point] for point in sorted(last)], pa.int64())
    return joined.take(places).combine_chunks()


def read_schema(path: Path) -> pa.Schema:
    """Return the columns of a file.

    Raises:
        UsageError: E246; it is damaged.
    """
    try:
        return pq.read_schema(path)
    except (OSError, pa.ArrowInvalid) as fault:
        raise damage_error(path) from fault


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    if not read_schema(path).equals(schema, check_metadata=True):
        raise damage_error(path)
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as fault:
        raise damage_error(path) from fault


def damage_error(path: Path) -> UsageError:
    """Return what is said of a file that is damaged, or of another sweep."""
    return UsageError(
        "E246",
        f"{path} is damaged, or of another sweep",
        remedy="remove it, and compute its points again with --resume",
    )


def functions_of(table: pa.Table, sweep: Sweep) -> tuple[str, ...]:
    """Return a user's objectives that a table has and the sweep file does not name."""
    own = {*schema_of(sweep, "", sweep.model.objectives).names, *OTHER_COLUMNS}
    stages = tuple(f"{stage}." for stage in CONFIRMED)
    names = [name for name in table.schema.names if not name.startswith(stages)]
    return tuple(name for name in names if name not in own)
