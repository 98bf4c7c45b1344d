# SPDX-License-Identifier: Apache-2.0
"""The command `atoll serve`."""

import os
import secrets
import socket
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import (
    AcceleratorsOption,
    PlacementOptions,
    SetOption,
    SocArgument,
    complete_with,
)
from atoll.description.share import find_soc
from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.utils.children import end_all
from atoll.utils.garbage import collect_often


def serve(
    soc: SocArgument,
    models: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MODEL",
            help="Quantised networks (TFLite or ONNX) that share one firmware.",
            autocompletion=complete_with("models"),
        ),
    ] = None,
    *,
    placement: PlacementOptions,
    overrides: SetOption = None,
    accelerators: AcceleratorsOption = True,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of this computer; 0 takes a free one.")
    ] = 0,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a chip and its networks in a browser, anew at each save.

    The page is that of 'atoll report', with errors, and with runs that it starts. Only this
    computer reaches it, at an address with a secret in it. Ctrl-C ends it.

    Example: atoll serve chip.yaml model.tflite --open
    """
    for name in ("starlette", "uvicorn"):
        if find_spec(name) is None:
            raise ToolchainError(
                "E236",
                f"'atoll serve' needs the package '{name}', which is not installed",
                remedy="install it with: pip install 'atoll[serve]'",
            )
    from atoll_serve.app import ADDRESS, serve_until_interrupted
    from atoll_serve.desk import Desk
    from atoll_serve.drawing import Asked

    if not find_soc(soc).exists():
        atoll.load_soc(soc)  # says what there is
    collect_often()
    asked = Asked(
        soc=soc,
        models=tuple(models or ()),
        placement=placement,
        overrides=tuple(overrides or ()),
        accelerators=accelerators,
    )
    with _listening(ADDRESS, port) as door:
        secret, number = secrets.token_urlsafe(24), door.getsockname()[1]
        address = f"http://{ADDRESS}:{number}/{secret}/"

        def ready() -> None:
            print(address, flush=True)
            if show:
                webbrowser.open(address)

        with suppress(KeyboardInterrupt):
            serve_until_interrupted(Desk(asked), secret, door, ready)
        end_all()


def _listening(address: str, port: int) -> socket.socket:
    try:
        return socket.create_server((address, port))
    except OSError as fault:
        raise UsageError(
            "E237",
            f"port {port} of {address} cannot be listened on: {os.strerror(fault.errno or 0)}",
            remedy="leave --port out, for a free one",
        ) from fault
