# SPDX-License-Identifier: Apache-2.0
"""What the images of a package are linked from, as an SPDX document.

Source: SPDX 2.3 (ISO/IEC 5962), JSON. The document has no time of its own, so that the same package
has the same bytes: `created` is that of SOURCE_DATE_EPOCH, or the begin of 1970.
"""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha1, sha256

from atoll.diagnostics.errors import UsageError
from atoll.version import __version__
from atoll_board.cmake import libraries
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.sources import driver_files, model_files, objects, startup_files

_OURS, _RUNTIME = "Apache-2.0", "Apache-2.0 WITH LLVM-exception"
_UNKNOWN = "NOASSERTION"
_EPOCH = "SOURCE_DATE_EPOCH"


def sbom_files(board: Board) -> Mapping[str, Entry]:
    """Return ``<chip>.spdx.json``.

    Raises:
        UsageError: E135; SOURCE_DATE_EPOCH is not a number of seconds.
    """
    name = board.soc.name
    files = [*_files(board)]
    digest = sha256("".join(str(each["checksums"]) for each in files).encode()).hexdigest()
    package = {
        "SPDXID": "SPDXRef-Package",
        "name": name,
        "versionInfo": digest[:16],
        "downloadLocation": _UNKNOWN,
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": _verification(files)},
        "licenseConcluded": _UNKNOWN,
        "licenseDeclared": _UNKNOWN,
        "licenseInfoFromFiles": sorted({_OURS, _RUNTIME, _UNKNOWN} & _licences(files)),
        "copyrightText": _UNKNOWN,
        "hasFiles": [each["SPDXID"] for each in files],
    }
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name} board support package",
        "documentNamespace": f"urn:atoll:{name}:{digest}",
        "creationInfo": {"created": _creation_time(), "creators": [f"Tool: atoll-{__version__}"]},
        "documentDescribes": ["SPDXRef-Package"],
        "packages": [package, *_networks(board)],
        "files": files,
        "relationships": [*_origins(board, files)],
    }
    return {f"{name}.spdx.json": generated_entry(json.dumps(document, indent=2) + "\n")}


def _files(board: Board) -> Iterator[dict[str, object]]:
    """Yield what is linked: generated sources, networks, and the compiler's library."""
    sources = {**startup_files(board), **driver_files(board)}
    parts = ((sources, _OURS), (model_files(board), _UNKNOWN), (libraries(board), _RUNTIME))
    made = [(path, each.data, licence) for files, licence in parts for path, each in files.items()]
    for number, (path, data, licence) in enumerate(sorted(made)):
        yield {
            "SPDXID": f"SPDXRef-File-{number}",
            "fileName": f"./{path}",
            "checksums": _sums(data),
            "licenseConcluded": licence,
            "licenseInfoInFiles": [licence],
            "copyrightText": _UNKNOWN,
        }


def _networks(board: Board) -> Iterator[dict[str, object]]:
    """Yield the files that networks came in."""
    for number, network in enumerate(board.networks):
        yield {
            "SPDXID": f"SPDXRef-Network-{number}",
            "name": network.graph.name,
            "packageFileName": f"{network.graph.name}{network.source.suffix}",
            "downloadLocation": _UNKNOWN,
            "filesAnalyzed": False,
            "checksums": _sums(network.source.data),
            "licenseConcluded": _UNKNOWN,
            "licenseDeclared": _UNKNOWN,
            "copyrightText": _UNKNOWN,
        }


def _origins(board: Board, files: list[dict[str, object]]) -> Iterator[dict[str, str]]:
    """Yield from which network each object was made."""
    identifiers = {str(each["fileName"]): str(each["SPDXID"]) for each in files}
    for core in board.cores:
        paths = tuple(objects(board, core))
        for number, path in enumerate(paths[: len(board.networks)]):
            yield {
                "spdxElementId": identifiers[f"./{path}"],
                "relationshipType": "GENERATED_FROM",
                "relatedSpdxElement": f"SPDXRef-Network-{number}",
            }


def _sums(data: bytes) -> list[dict[str, str]]:
    return [
        {"algorithm": "SHA1", "checksumValue": sha1(data, usedforsecurity=False).hexdigest()},
        {"algorithm": "SHA256", "checksumValue": sha256(data).hexdigest()},
    ]


def _licences(files: list[dict[str, object]]) -> set[str]:
    return {str(each["licenseConcluded"]) for each in files}


def _verification(files: list[dict[str, object]]) -> str:
    """Return the code of SPDX 2.3, 7.9: SHA-1 of all files' SHA-1, sorted."""
    sums = sorted(each["checksums"][0]["checksumValue"] for each in files)  # type: ignore[index]
    return sha1("".join(sums).encode(), usedforsecurity=False).hexdigest()


def _creation_time() -> str:
    text = os.environ.get(_EPOCH, "0")
    try:
        return datetime.fromtimestamp(int(text), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError) as fault:
        message = f"{_EPOCH} is '{text}', no number of seconds since 1970"
        raise UsageError("E135", message, remedy=f"correct or unset {_EPOCH}") from fault
