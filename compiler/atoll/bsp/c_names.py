# SPDX-License-Identifier: Apache-2.0
"""C names from free text: sanitised, never a keyword, never one name for two things."""

import re
from collections.abc import Iterable

from atoll.diagnostics.errors import Fault, ToolchainError

_C_WORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
    "public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq "
)
_KEYWORDS = frozenset(_C_WORDS.split())


def c_name(text: str) -> str:
    """Turn any text into an identifier of C and C++: ``input+`` becomes ``input_``."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    if not name or name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if name in _KEYWORDS else name


def refuse_clashes(named: Iterable[tuple[str, str]], where: str) -> None:
    """Check that no two things got one C name.

    Args:
        named: (C name, what it stands for) of everything that shares a scope.
        where: the file that declares them.

    Raises:
        ToolchainError: E075 once for every pair that clashes.
    """
    owners: dict[str, str] = {}
    clashes: dict[tuple[str, str], str] = {}
    for name, thing in named:
        first = owners.setdefault(name, thing)
        if first != thing:
            clashes.setdefault((first, thing), name)
    if clashes:
        raise ToolchainError.all(_clash(*pair, clashes[pair], where) for pair in clashes)


def _clash(first: str, second: str, name: str, where: str) -> Fault:
    return Fault(
        code="E075",
        message=f"{first} and {second} would both be called '{name}' in {where}",
        remedy="rename one; punctuation and upper or lower case alone do not tell names apart in C",
    )
