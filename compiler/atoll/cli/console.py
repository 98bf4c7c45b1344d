# SPDX-License-Identifier: Apache-2.0
"""Where commands print what rich lays out, which is slow to import."""

from typing import Any

from rich.console import Console
from rich.text import Text

from atoll.diagnostics.shown import printable_lines


class SafeConsole(Console):
    """A console that escapes what a terminal would obey: in strings and in cells of tables."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into text without control characters."""
        return super().render_str(printable_lines(text), **options)


out = SafeConsole(highlight=False, soft_wrap=True, markup=False, emoji=False)
