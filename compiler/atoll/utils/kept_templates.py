# SPDX-License-Identifier: Apache-2.0
"""Compiled templates, kept in the cache folder from one command to the next."""

from jinja2.bccache import Bucket, BytecodeCache

from atoll.utils.kept import keep, read_kept


class KeptTemplates(BytecodeCache):
    """Saves the time to compile templates; one that is damaged or cannot be kept is compiled."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill `bucket` if its file is whole; Jinja2 compares the template's content itself."""
        if (code := read_kept(f"templates/{bucket.key}")) is not None:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep `bucket`, unless the cache folder is not writable."""
        keep(f"templates/{bucket.key}", bucket.bytecode_to_string())
