# SPDX-License-Identifier: Apache-2.0
"""Make one relocatable object file of several."""

from atoll.utils.kept import keep_made, name_of
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import run_zig


def join_objects(*codes: bytes) -> bytes:
    """Return object files of one machine as one, their sections as they were.

    Raises:
        ToolchainError: E070; ziglang is not installed.
    """
    if len(codes) == 1:
        return codes[0]

    def link() -> bytes:
        with temporary_folder() as folder:
            names = [f"{number}.o" for number in range(len(codes))]
            for name, code in zip(names, codes, strict=True):
                (folder / name).write_bytes(code)
            done = run_zig("ld.lld", "-r", "-o", "joined.o", *names, folder=folder)
            assert done.returncode == 0, done.stderr
            return (folder / "joined.o").read_bytes()

    return keep_made(f"machine_code/{name_of('join', *codes)}", link)
