"""The elements of WordPress exports (WXR), read one at a time.

Of the items that have been read, only empty elements stay in memory, some 80 bytes each.
"""

import codecs
import re
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers.expat import errors

from converters.articles import SourceError
from fields import NOT_XML

CHUNK = 1 << 16  # characters
ENCODING = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.-]+)""")
# No XML can contain these characters, but WordPress exports them. The second part is a UTF-16 surrogate, whose bytes
# are not valid UTF-8 (https://docs.python.org/3/library/codecs.html#error-handlers).
# A group for it would double the time of the search.
FORBIDDEN = re.compile(rf"{NOT_XML.pattern}|\udced[\udca0-\udcbf][\udc80-\udcbf]")
REPLACEMENT = "\ufffd"  # for a surrogate
# a byte order mark, and the declaration, whose encoding no longer applies. Plugins print empty lines before it.
DECLARATION = re.compile(r"\A\ufeff?(\s*)(?:<\?xml[^<>]*>)?")
HTML_PAGE = re.compile(r"\s*<(?:!doctype\s+)?html\b", re.IGNORECASE)  # <!DOCTYPE html> or <html lang="en">
REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,9}));")  # &#x1F600; or &#11;
LONGEST_REFERENCE = len("&#123456789;")
INCOMPLETE = "The export is incomplete. Export it again, in parts if the server stops early."
ADVICE = {
    errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "Remove the text before <?xml or after the last tag.",
    errors.XML_ERROR_NO_ELEMENTS: INCOMPLETE,
    errors.XML_ERROR_PARTIAL_CHAR: INCOMPLETE,
    errors.XML_ERROR_UNCLOSED_CDATA_SECTION: INCOMPLETE,
    errors.XML_ERROR_UNCLOSED_TOKEN: INCOMPLETE,
}


def read_elements(path: str) -> Iterator[Element]:
    """Yield the items of an export, one at a time, then the other elements of its channel.

    Raises SourceError or OSError if the file cannot be read any further.
    """
    parser: XMLPullParser[Element] = XMLPullParser(["end"])
    channel: Element | None = None
    line = 1
    try:
        with open(path, "rb") as file, TextIOWrapper(file, _encoding(file), "surrogateescape") as text:
            for part in _legal_text(text):
                parser.feed(_encode(part, line))
                line += part.count("\n")
                ended: Iterator[Any] = parser.read_events()
                for _, element in ended:
                    if element.tag == "item":
                        yield element
                        element.clear()
                    elif element.tag == "channel":
                        channel = element
        parser.close()
    except ParseError as error:
        raise _error(error) from error
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise SourceError(f"Cannot be decoded ({error}). Save it as UTF-8, or export it again.") from error
    if channel is None:
        raise SourceError("Must be a WordPress export, in XML (WXR), from Tools → Export.")
    yield from (element for element in channel if element.tag != "item")


def _encoding(file: BufferedReader) -> str:
    """Return the encoding that a file declares, or UTF-8."""
    start = file.peek()
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = ENCODING.match(start)
    return declared[1].decode() if declared else "utf-8"


def _encode(text: str, first_line: int) -> bytes:
    """Return text in UTF-8. Raises SourceError if it contains bytes that could not be decoded."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = first_line + text.count("\n", 0, error.start)
        raise SourceError("Must be text in the encoding that it declares. Save it as UTF-8.", line) from error


def _legal_text(file: TextIOWrapper) -> Iterator[str]:
    """Yield a file's text without its declaration and without the characters that XML forbids.

    Raises SourceError if it is an HTML page, or has a DOCTYPE, which could declare entities that grow without bounds.
    """
    text = DECLARATION.sub(r"\1", file.read(CHUNK))
    if HTML_PAGE.match(text):
        raise SourceError("This is an HTML page, not an export. Log in, and export again under Tools → Export.")
    if "<!doctype" in text.partition("<rss")[0].lower():
        raise SourceError("It declares a document type, which no WordPress export does. Remove the declaration.")
    while text:
        chunk = file.read(CHUNK)
        reference = max(text.rfind(start, -LONGEST_REFERENCE) for start in "&\udced") if chunk else -1
        # A reference such as &#11; must not be cut in two.
        end = len(text) if reference < 0 else reference
        legal = FORBIDDEN.sub(lambda match: REPLACEMENT if len(match[0]) > 1 else "", text[:end])
        yield REFERENCE.sub(_legal_reference, legal)
        text = text[end:] + chunk


def _legal_reference(match: re.Match[str]) -> str:
    """Return a character reference, or "" if XML forbids its character (https://www.w3.org/TR/xml/#charsets)."""
    code = int(match[1], 16) if match[1] else int(match[2])
    if 0xD800 <= code < 0xE000:
        return REPLACEMENT
    is_legal = code in (9, 10, 13) or 32 <= code < 0xFFFE or 0xFFFF < code <= 0x10FFFF
    return match[0] if is_legal else ""


def _error(error: ParseError) -> SourceError:
    """Return the error for XML that is not well-formed."""
    line, column = error.position
    reason = str(error).partition(":")[0]
    advice = ADVICE.get(reason, "Correct that line in a text editor.")
    return SourceError(f"Must be XML: line {line}, column {column + 1}: {reason}. {advice}")
