"""WordPress exports (WXR), as Tools → Export writes them."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from importing.derived import decode_references, visible_words
from importing.errors import ImportErrors, LocatedRecord, Records, SourceError, SourceLocation, SourceOptions
from importing.fitting import fit_article
from importing.paragraphs import add_paragraphs

CHUNK_SIZE = 1 << 16  # bytes
CONTROL_CHARACTERS = bytes({*range(32)} - {*b"\t\n\r"})  # which no XML can hold, but WordPress exports
STATUSES = {"publish": "published", "future": "published", "draft": "draft", "pending": "draft", "private": "draft"}
# The block editor writes paragraphs itself, and its settings in comments.
COMMENT = re.compile(r"<!--(?: /?wp:[^<>]*|more[^<>]*|nextpage)-->\n?")
PLACEHOLDER = re.compile(r"%[a-z_]+(?:\([^)%]*\))?%")  # of Yoast (%%title%%) and Rank Math (%title%)


class ExportBuilder(TreeBuilder):
    """Builds the elements of an export, of which the reader takes the complete items."""

    def __init__(self) -> None:
        super().__init__()
        self.site = ""
        self.items: list[Element] = []

    def doctype(self, *_args: Any) -> None:
        """Refuse a document type: its entities could grow without bounds, or read other files."""
        raise SourceError("It declares a document type, as no WordPress export does. Export it again.")

    def end(self, tag: str) -> Element:
        element = super().end(tag)
        if tag == "item":
            self.items.append(element)
        elif tag.endswith("}base_blog_url"):
            self.site = element.text or ""
        return element


def read_wordpress(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the posts of an export. Raises SourceError or OSError if it cannot be read."""
    images: dict[str, str] = defaultdict(str)  # URLs by id: attachments may follow the posts that show them
    for _, texts, _ in _read_items(source):
        images[texts["post_id"]] = texts["attachment_url"]
        if texts["post_type"] != "post" or texts["status"] not in STATUSES:
            kind = f"type {texts['post_type']}" if texts["post_type"] != "post" else f"status {texts['status']}"
            errors.note(f"Left out: posts of the {kind}", texts["post_name"] or texts["title"])
    for item, texts, site in _read_items(source):
        if texts["post_type"] == "post" and texts["status"] in STATUSES:
            location, fields = _read_post(source, item, texts, images)
            yield fit_article(location, fields, options if options.site else options._replace(site=site))


def _read_items(path: str) -> Iterator[tuple[Element, dict[str, str], str]]:
    """Yield the items of an export, their texts, and the site's URL. Raises SourceError or OSError."""
    builder = ExportBuilder()
    parser = XMLParser(target=builder)  # noqa: S314  # which refuses a document type
    try:
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK_SIZE):
                parser.feed(chunk.translate(None, CONTROL_CHARACTERS))
                for item in builder.items:
                    yield item, _texts(item), builder.site
                    item.clear()
                builder.items.clear()
        parser.close()
    except (ParseError, LookupError, ValueError) as error:  # also for an encoding that Python or its parser lacks
        raise SourceError(f"Must be a WordPress export, in XML ({error}). Export it again.") from error
    if not builder.site:
        raise SourceError("Must be a WordPress export (WXR), as Tools → Export writes it.")


@cache
def _name(tag: str) -> str:
    """Return an element's name, and for content:encoded and excerpt:encoded the prefix."""
    namespace, _, name = tag.rpartition("}")
    return namespace.rstrip("/").rpartition("/")[2] if name == "encoded" else name


def _texts(element: Element) -> dict[str, str]:
    """Return the texts of the elements that `element` holds by name, with "" for those that it lacks."""
    return defaultdict(str, {_name(child.tag): child.text or "" for child in element})


def _read_post(source: str, item: Element, texts: dict[str, str], images: dict[str, str]) -> LocatedRecord:
    parts = [_texts(child) for child in item if len(child)]
    meta = defaultdict(str, {part["meta_key"]: part["meta_value"] for part in parts})
    status = STATUSES[texts["status"]]
    is_closed = texts["status"] == "private" or bool(texts["post_password"])
    fields = {
        "id": f"wordpress-{texts['post_id']}",
        "title": texts["title"],
        "slug": unquote(texts["post_name"]),
        "status": "draft" if is_closed else status,
        "publishedAt": _utc(texts["post_date_gmt"]) or (texts["post_date"] if status == "published" else ""),
        "updatedAt": _utc(texts["post_modified_gmt"]),
        "categories": _terms(item, "category"),
        "keywords": _terms(item, "post_tag"),
        "bannerUrl": images[meta["_thumbnail_id"]],
        "metaTitle": _seo_text(meta, "_yoast_wpseo_title", "rank_math_title"),
        "metaDesc": _seo_text(meta, "_yoast_wpseo_metadesc", "rank_math_description")
        or " ".join(visible_words(texts["excerpt"])),
        "contentHtml": _render(texts["content"]),
        "author": texts["creator"],
        "comments": any(part["comment_id"] for part in parts) or None,
    }
    notes = ["Drafts, because they are private or have a password"] if is_closed else []
    return SourceLocation(source, f"post {texts['post_id']} {texts['title']!r}", notes=notes), fields


def _utc(time: str) -> str:
    """Return a time in UTC with its zone, and "" for that of a post that was never published: 0000-00-00 00:00:00."""
    return f"{time}Z" if time > "0001" else ""


def _terms(item: Element, domain: str) -> list[str]:
    return [decode_references(term.text or "") for term in item.iterfind(f"category[@domain='{domain}']")]


def _seo_text(meta: dict[str, str], *names: str) -> str:
    """Return the first one of these texts that a person has written. The plugins fill in placeholders."""
    return next((meta[name] for name in names if meta[name] and not PLACEHOLDER.search(meta[name])), "")


def _render(content: str) -> str:
    html = COMMENT.sub("", content)
    return html.strip() if "<!-- wp:" in content else add_paragraphs(html)
