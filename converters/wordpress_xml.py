"""The elements of WordPress exports (WXR), read one at a time, so that memory does not grow with the file."""

import codecs
import re
from collections.abc import Iterator
from typing import Any, Protocol
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.parsers.expat import errors

from converters.records import SourceError

CHUNK_BYTES = 1 << 16
# No XML can contain these, but WordPress exports them.
CONTROL_CHARACTERS = bytes({*range(32)} - {*b"\t\n\r"})
REFERENCE = rb"&#(x[0-9a-fA-F]{1,8}|[0-9]{1,9});"
NOT_CHARACTERS = re.compile(REFERENCE)
NOT_CHARACTERS_UTF8 = re.compile(rb"\xef\xbf[\xbe\xbf]|\xed[\xa0-\xbf][\x80-\xbf]|" + REFERENCE)
ENCODING = re.compile(rb"""<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.-]+)""")
INCOMPLETE = "The export is incomplete. Export it again, in parts if the server stops early."
ADVICE = {
    errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "Remove the text after the last tag.",
    errors.XML_ERROR_NO_ELEMENTS: INCOMPLETE,
    errors.XML_ERROR_PARTIAL_CHAR: INCOMPLETE,
    errors.XML_ERROR_UNCLOSED_CDATA_SECTION: INCOMPLETE,
    errors.XML_ERROR_UNCLOSED_TOKEN: INCOMPLETE,
}
LONGEST_REFERENCE = len(b"&#123456789;")


class Stream(Protocol):
    """A source of bytes: a file, or one that is transcoded to UTF-8."""

    def read(self, size: int, /) -> bytes: ...


class ExportBuilder(TreeBuilder):
    """A builder that collects items as they end."""

    def __init__(self) -> None:
        super().__init__()
        self._items: list[Element] = []

    def end(self, tag: str) -> Element:
        """Close an element."""
        element = super().end(tag)
        if tag == "item":
            self._items.append(element)
        return element

    def doctype(self, *_args: Any) -> None:
        """Reject a document type: its entities could grow without bounds, or read other files."""
        raise SourceError("It declares a document type, which no WordPress export does. Remove the declaration.")

    def take_items(self) -> Iterator[Element]:
        """Yield the items that have ended since the last call. Each is cleared when the next one is requested."""
        items, self._items = self._items, []
        for item in items:
            yield item
            item.clear()


def read_elements(path: str) -> Iterator[Element]:
    """Yield the items of an export, one at a time, then the other elements of its channel.

    Raises SourceError or OSError.
    """
    builder = ExportBuilder()
    first_line = 0
    try:
        with open(path, "rb") as file:
            is_utf16 = file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            stream = codecs.EncodedFile(file, "utf-8", "utf-16") if is_utf16 else file
            parser = XMLParser(target=builder, encoding="utf-8" if is_utf16 else None)  # noqa: S314  # no document types
            first_line, start = _skip_blank_lines(stream)
            declared = None if is_utf16 else ENCODING.match(start)
            is_utf8 = not declared or declared[1].lower() == b"utf-8"
            for data in _legal_bytes(start, stream, NOT_CHARACTERS_UTF8 if is_utf8 else NOT_CHARACTERS):
                parser.feed(data)
                yield from builder.take_items()
            channel = parser.close().find("channel")
    except ParseError as error:
        raise _error(error, first_line) from error
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise SourceError(f"Must be a WordPress export, in XML ({error}).") from error
    yield from (element for element in ([] if channel is None else channel) if element.tag != "item")


def _skip_blank_lines(file: Stream) -> tuple[int, bytes]:
    """Skip blank lines. Return how many, and the bytes that follow. Raises SourceError for text before `<?xml`."""
    data, lines = b"", 0
    while not data and (chunk := file.read(CHUNK_BYTES)):
        data = chunk.removeprefix(b"\xef\xbb\xbf").lstrip()
        lines += chunk.removesuffix(data).count(b"\n")
    before, declaration, _ = data.partition(b"<?xml")
    if before and declaration and b"<rss" not in before:
        line = lines + before.count(b"\n") + 1
        raise SourceError(f"Nothing may precede <?xml, which is on line {line}. Remove the text before it.")
    return lines, data


def _legal_bytes(data: bytes, file: Stream, not_characters: re.Pattern[bytes]) -> Iterator[bytes]:
    """Yield a file without the characters that XML forbids. `data` are its first bytes."""
    while data:
        chunk = file.read(CHUNK_BYTES)
        end = _safe_end(data) if chunk else len(data)
        yield not_characters.sub(_keep_character, data[:end].translate(None, CONTROL_CHARACTERS))
        data = data[end:] + chunk


def _safe_end(data: bytes) -> int:
    """Return where bytes can end without cutting what may be a forbidden character."""
    start = max(data.rfind(byte, -LONGEST_REFERENCE) for byte in (b"&", b"\xef", b"\xed"))
    return start if start >= 0 else len(data)


def _keep_character(match: re.Match[bytes]) -> bytes:
    """Return a character reference if XML has its character (https://www.w3.org/TR/xml/#charsets)."""
    if not match[1]:
        return b""
    code = int(match[1][1:], 16) if match[1].startswith(b"x") else int(match[1])
    is_legal = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xDFFF < code < 0xFFFE or 0xFFFF < code <= 0x10FFFF
    return match[0] if is_legal else b""


def _error(error: ParseError, first_line: int) -> SourceError:
    """Return the error for XML that is not well-formed. `first_line` is the number of lines that were skipped."""
    line, column = error.position
    reason = str(error).partition(":")[0]
    advice = ADVICE.get(reason, "Correct that line in a text editor.")
    return SourceError(f"Must be XML: line {line + first_line}, column {column + 1}: {reason}. {advice}")
