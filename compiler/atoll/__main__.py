# SPDX-License-Identifier: Apache-2.0
"""Run `python -m atoll` as the command `atoll`."""

import sys

from atoll.cli import main

sys.exit(main())
