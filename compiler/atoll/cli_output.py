"""Where commands print: results on standard output, all else on standard error."""

from rich.console import Console

out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
log = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)
