# SPDX-License-Identifier: Apache-2.0
"""The process that answers what `apart.ask` asks."""

import pickle
import sys
from pathlib import Path

from atoll.plugins.loading import load
from atoll_sim.oracle.apart import ANSWER, QUESTION, NoAnswerError


def main(folder: Path) -> None:
    """Answer the question in a folder."""
    function, given = pickle.loads((folder / QUESTION).read_bytes())
    try:
        value = load(function)(*given)
    except NoAnswerError as fault:
        value = NoAnswerError(str(fault))
    made = folder / f"{ANSWER}.part"
    made.write_bytes(pickle.dumps(value))
    made.rename(folder / ANSWER)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
