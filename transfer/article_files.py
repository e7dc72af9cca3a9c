"""Article files of this service: front matter in YAML, then the content in HTML."""

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import normalize

import orjson

from converters.front_matter import dump_front_matter

MAX_NAME_BYTES = 255
# names that are valid on Linux, macOS and Windows, except device names and our fallback for other slugs
FILE_NAME = re.compile(
    r"""(?!(?:con|prn|aux|nul|(?:com|lpt)\d)(?:\.|\Z)|article-[0-9a-f]{64}\Z)[^\W_][^<>:"/\\|?*]*""", re.IGNORECASE
)


def write_folder(folder: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write exported articles to files in a folder, creating it if necessary; return their number. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    used: set[str] = set()
    for record in records:
        (folder / _file_name(record["id"], record["slug"], used)).write_bytes(format_article(record))
    return len(used)


def _file_name(id: str, slug: str, used: set[str]) -> str:
    """Return a file name that differs from all names in `used` on every file system, and add it to them."""
    name = f"{slug}.html"
    key = normalize("NFD", name.casefold())
    is_short = max(len(name.encode()), len(key.encode())) <= MAX_NAME_BYTES
    is_name = FILE_NAME.fullmatch(slug) and slug.isprintable() and is_short
    if not is_name or key in used:
        name = key = f"article-{sha256(id.encode()).hexdigest()}.html"
    used.add(key)
    return name


def format_article(record: dict[str, Any]) -> bytes:
    """Return an exported article as a file with its content in HTML."""
    fields = orjson.loads(orjson.dumps(record))
    content = fields.pop("contentHtml")
    return f"{dump_front_matter(fields)}{content}\n".encode()
