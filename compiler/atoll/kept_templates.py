"""Compiled templates, kept in the cache folder from one command to the next."""

import hashlib

from jinja2.bccache import Bucket, BytecodeCache

from atoll.cache import cache_folder
from atoll.errors import UsageError
from atoll.files import write_bytes

_DIGEST = hashlib.sha256().digest_size


class KeptTemplates(BytecodeCache):
    """Saves the time to compile templates; one that is damaged or cannot be kept is compiled."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill `bucket` if its file is whole; Jinja2 compares the template's content itself."""
        try:
            kept = (cache_folder() / "templates" / bucket.key).read_bytes()
        except OSError:
            return
        if hashlib.sha256(kept[_DIGEST:]).digest() == kept[:_DIGEST]:
            bucket.bytecode_from_string(kept[_DIGEST:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep `bucket`, unless the cache folder is not writable."""
        code = bucket.bytecode_to_string()
        path = cache_folder() / "templates" / bucket.key
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, hashlib.sha256(code).digest() + code)
        except (OSError, UsageError):
            pass
