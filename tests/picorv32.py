# SPDX-License-Identifier: Apache-2.0
"""The core that ships, for chips that tests make without a description."""

from pathlib import Path

from atoll.description.core_files import find_core, load_core
from atoll.resolve.core_instances import spec_of

PICORV32 = spec_of(load_core(find_core("picorv32", "cpu", Path(), None), None))
