"""The elements of WordPress exports (WXR), read one at a time.

Of the items that have been read, only empty elements stay in memory, some 80 bytes each.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from content.html import decode_references
from converters.source_articles import SourceError

CHUNK = 1 << 16  # bytes
# Control characters, which XML does not allow, but WordPress exports
CONTROL_CHARACTERS = bytes({*range(32)} - {9, 10, 13})
DAMAGED = "It is damaged, incomplete or a web page: log in, and export again, in parts if the server stops early."
NO_EXPORT = "Must be a WordPress export (WXR), from Tools → Export."
DOCUMENT_TYPE = "It declares a document type, as web pages do, but no export: log in, and export again."


@dataclass
class Item:
    """An item of an export, such as a post, with stripped values."""

    texts: dict[str, str] = field(default_factory=dict)  # by element
    meta: dict[str, str] = field(default_factory=dict)  # by key
    old_slugs: list[str] = field(default_factory=list)  # from which WordPress redirects
    terms: dict[str, list[str]] = field(default_factory=dict)  # names by taxonomy, such as "category" and "post_tag"


def read_elements(path: str) -> Iterator[Element]:
    """Yield the items of an export, one at a time, then the other elements of its channel.

    Raises SourceError or OSError if the file cannot be read completely.
    """
    builder = _ExportBuilder()
    parser = XMLParser(target=builder)  # noqa: S314 - no document type
    with open(path, "rb") as file:
        chunk = file.read(CHUNK)
        if chunk.lstrip().startswith(b"<?xml"):  # Plugins print empty lines before it.
            chunk = chunk.lstrip()
        while chunk:
            _feed(parser, chunk)
            for item in builder.items:
                yield item
                item.clear()
            builder.items.clear()
            chunk = file.read(CHUNK)
    _feed(parser, None)
    if builder.channel is None:
        raise SourceError(NO_EXPORT)
    yield from (element for element in builder.channel if element.tag != "item")


def _feed(parser: "XMLParser[Any]", chunk: bytes | None) -> None:
    """Parse a chunk of an export, or its end. Raises SourceError if it is not well-formed."""
    try:
        if chunk is None:
            parser.close()
        else:
            parser.feed(chunk.translate(None, CONTROL_CHARACTERS))
    except (ParseError, LookupError, ValueError) as error:  # of the last two, an unknown encoding
        raise SourceError(f"Must be XML ({error}). {DAMAGED}") from error


class _ExportBuilder(TreeBuilder):
    """Collects the items of an export, and keeps its channel."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[Element] = []  # that have not been yielded
        self.channel: Element | None = None

    def doctype(self, _name: str, _public_id: str | None, _system_id: str | None) -> None:
        """Refuse a document type: it could declare entities that grow without bounds."""
        raise SourceError(DOCUMENT_TYPE)

    def end(self, tag: str, /) -> Element:
        element = super().end(tag)
        if tag == "item":
            self.items.append(element)
        elif tag == "channel":
            self.channel = element
        return element


def parse_item(element: Element) -> Item:
    """Return an item of an export. If an element or a key repeats, the first value that is not empty counts."""
    item = Item()
    for child in element:
        name = local_name(child.tag)
        text = (child.text or "").strip()
        if name == "category":
            item.terms.setdefault(child.get("domain", ""), []).append(decode_references(text))
        elif name == "postmeta":
            texts = child_texts(child)
            key = texts.get("meta_key", "")
            value = texts.get("meta_value", "")
            if key == "_wp_old_slug":
                item.old_slugs.append(value)
            else:
                item.meta[key] = item.meta.get(key) or value
        else:
            item.texts[name] = item.texts.get(name) or text
    return item


def child_texts(element: Element) -> dict[str, str]:
    """Return the text of an element's children by name."""
    return {local_name(child.tag): (child.text or "").strip() for child in element}


@lru_cache(256)
def local_name(tag: str) -> str:
    """Return a tag's name without its namespace: `post_id` for `wp:post_id`.

    content:encoded and excerpt:encoded are `content` and `excerpt`. Elements of plugins keep their namespace.
    """
    namespace, _, name = tag.rpartition("}")
    if name == "encoded":
        return namespace.rstrip("/").rpartition("/")[2]
    return name if not namespace or "/export/" in namespace or "purl.org" in namespace else tag
