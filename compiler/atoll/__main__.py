"""Run `python -m atoll` as the command `atoll`."""

import sys

from atoll.cli import main

sys.exit(main())
