"""WordPress exports (WXR), as Tools → Export writes them."""

import re
from collections import defaultdict
from functools import cache
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from content.html import decode_references, visible_words
from converters.normalize import normalize_article, slug_from_title
from converters.paragraphs import add_paragraphs
from converters.records import Converted, IgnoredItem, SourceError, SourceOptions

CONTROL_CHARACTERS = bytes({*range(32)} - {*b"\t\n\r"})  # No XML can hold them, but WordPress exports them.
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
CHUNK_BYTES = 1 << 16
STATUSES = {"publish": "published", "future": "published", "draft": "draft", "pending": "draft", "private": "draft"}
# The block editor writes paragraphs itself, and its settings in comments.
COMMENT = re.compile(r"<!--(?: /?wp:[^<>]*|more[^<>]*|nextpage)-->\n?")
# WordPress fills these blocks when it shows the page.
FILLED_BLOCK = re.compile(r"<!-- wp:([\w/-]+)[^<>]*/-->")
# In a possessive repetition, Python before 3.11.5 takes what an alternative has matched before it failed
# (https://github.com/python/cpython/issues/106052). A tag ends before the next "<" and a text before the next caption,
# so that the time is linear in the length of any text nevertheless.
ATTRIBUTES = r"""\s(?:[^<>"']|"[^<"]*"|'[^<']*')*>"""
# A caption's attributes, its picture, and its text, which older versions have as an attribute.
CAPTION = re.compile(
    rf"\[caption([^\[\]]*+)\]\s*((?:<a{ATTRIBUTES}\s*)?<img{ATTRIBUTES}(?:\s*</a>)?)"
    r"((?:[^\[]|\[(?!/?caption))*)\[/caption\]"
)
CAPTION_TEXT = re.compile(r"""\scaption=(["'])(.*?)\1""")
URL = r"""(https?://[^\s<>"\[\]]+)"""
EMBED = re.compile(
    rf"\[embed[^\[\]]*+\]\s*([^\s\[\]<>]+)\s*\[/embed\]|^[ \t]*{URL}\s*?$|(?<=<p>)\s*{URL}\s*(?=</p>)", re.MULTILINE
)
PLACEHOLDER = re.compile(r"%%([\w-]+)%%|%([a-z_]+)(?:\([^)%]*\))?%")  # Yoast: %%title%%. Rank Math: %title%

Texts = dict[str, str]  # It holds texts by name or by id.


class ExportBuilder(TreeBuilder):
    """A builder of the elements of an export, which has no document type."""

    def doctype(self, *_args: Any) -> None:
        """Refuse a document type: its entities could grow without bounds, or read other files."""
        raise SourceError("It declares a document type, as no WordPress export does. Export it again.")


def read_wordpress(source: str, options: SourceOptions) -> Converted:
    """Yield the posts of an export, which is held in memory. Raises SourceError or OSError if it cannot be read."""
    channel = _parse(source)
    site = _texts(channel)
    if not site["base_blog_url"]:
        raise SourceError("Must be a WordPress export (WXR), as Tools → Export writes it.")
    options = options if options.site else options._replace(site=site["base_blog_url"])
    items = [(item, _texts(item)) for item in channel.iterfind("item")]
    images = {texts["post_id"]: texts["attachment_url"] for _, texts in items}
    terms = map(_texts, channel.iterfind("{*}category"))
    categories = {term["term_id"]: decode_references(term["cat_name"]) for term in terms}
    for item, texts in items:
        if kind := _kind_left_out(texts):
            yield IgnoredItem(f"Left out: {kind}", texts["post_name"] or texts["title"] or texts["post_id"])
            continue
        where = f"{source}, post {texts['post_id']} {texts['title']!r}"
        article = normalize_article(where, _read_post(item, texts, site["title"], images, categories), options)
        if _is_closed(texts):
            article.note("Drafts, because they are private or have a password")
        yield article


def _parse(source: str) -> Element:
    """Return the channel of an export. Raises SourceError or OSError."""
    parser = XMLParser(target=ExportBuilder())  # noqa: S314  # It refuses a document type.
    try:
        with open(source, "rb") as file:
            while data := file.read(CHUNK_BYTES):
                parser.feed(data.translate(None, CONTROL_CHARACTERS))
        channel: Element | None = parser.close().find("channel")
    except (ParseError, LookupError, ValueError) as error:  # The last two are for unknown encodings.
        raise SourceError(f"Must be a WordPress export, in XML ({error}). Export it again.") from error
    return Element("channel") if channel is None else channel


def _kind_left_out(texts: Texts) -> str:
    """Return which kind of item is not imported, or "" for one that is."""
    if texts["post_type"] != "post":
        return f"posts of the type {texts['post_type']}"
    if texts["status"] not in STATUSES:
        return f"posts of the status {texts['status']}"
    is_empty = STATUSES[texts["status"]] == "draft" and not (texts["title"] + texts["content"]).strip()
    return "drafts without a title and content" if is_empty else ""


def _is_closed(texts: Texts) -> bool:
    return texts["status"] == "private" or bool(texts["post_password"])


@cache
def _name(tag: str) -> str:
    """Return an element's name, and for content:encoded and excerpt:encoded the prefix."""
    namespace, _, name = tag.rpartition("}")
    return namespace.rstrip("/").rpartition("/")[2] if name == "encoded" else name


def _texts(element: Element) -> Texts:
    """Return the texts of the elements that `element` holds by name, with "" for those that it lacks."""
    return defaultdict(str, {_name(child.tag): child.text or "" for child in element})


def _read_post(item: Element, texts: Texts, site_title: str, images: Texts, names: Texts) -> dict[str, Any]:
    """Return the fields of a post, and what is lost of it under names that say so."""
    parts = [_texts(child) for child in item if len(child)]
    meta = defaultdict(str, {part["meta_key"]: part["meta_value"] for part in parts})
    html_title = texts["title"].strip() or "(no title)"
    title = " ".join(decode_references(TAG.sub("", html_title)).split())
    status = "draft" if _is_closed(texts) else STATUSES[texts["status"]]
    banner = images.get(meta["_thumbnail_id"])
    return {
        "id": f"wordpress-{texts['post_id']}",
        "title": title,
        "slug": unquote(texts["post_name"]) or slug_from_title(title, texts["post_id"]),
        "status": status,
        "publishedAt": _utc(texts["post_date_gmt"]) or (texts["post_date"] if status == "published" else ""),
        "updatedAt": _utc(texts["post_modified_gmt"]),
        "categories": [*dict.fromkeys([names.get(meta["_yoast_wpseo_primary_category"]), *_terms(item, "category")])],
        "keywords": _terms(item, "post_tag"),
        "bannerUrl": banner,
        "contentHtml": _render(texts["content"]),
        **_read_seo_texts(meta, title, site_title, texts["excerpt"]),
        # These are no fields of the form: each that has a value is reported as left out.
        "author": texts["creator"],
        "comments": any(part["comment_id"] for part in parts) or None,
        "featured images that this file lacks (export All content)": (meta["_thumbnail_id"] and not banner) or None,
        **{f"wp:{name}": True for name in FILLED_BLOCK.findall(texts["content"])},
    }


def _read_seo_texts(meta: Texts, title: str, site_title: str, excerpt: str) -> dict[str, Any]:
    """Return the title and the description that a person has written for search engines, else the excerpt."""
    words = {"title": title, "sep": "-", "sitename": decode_references(site_title), "page": ""}
    meta_title = meta["_yoast_wpseo_title"] or meta["rank_math_title"]
    description = meta["_yoast_wpseo_metadesc"] or meta["rank_math_description"]
    filled = {text: _fill_in(text, words) for text in (meta_title, description)}
    return {
        "metaTitle": filled[meta_title],
        "metaDesc": filled[description] or " ".join(visible_words(excerpt)),
        "texts with placeholders of Yoast or Rank Math": any(text and not filled[text] for text in filled) or None,
    }


def _fill_in(text: str, words: Texts) -> str:
    """Return the text of a plugin with its placeholders filled in, or "" if it has another one than `words`."""
    if any((yoast or rank_math) not in words for yoast, rank_math in PLACEHOLDER.findall(text)):
        return ""
    return " ".join(PLACEHOLDER.sub(lambda name: words[name[1] or name[2]], decode_references(text)).split())


def _utc(time: str) -> str:
    """Return a time in UTC with its zone, and "" for that of a post that was never published: 0000-00-00 00:00:00."""
    return f"{time}Z" if time > "0001" else ""


def _terms(item: Element, domain: str) -> list[str]:
    return [decode_references(term.text or "") for term in item.iterfind(f"category[@domain='{domain}']")]


def _render(content: str) -> str:
    """Return the HTML that WordPress shows of a post's content."""
    html = EMBED.sub(_link, CAPTION.sub(_figure, COMMENT.sub("", content)))
    return html.strip() if "<!-- wp:" in content else add_paragraphs(html)


def _figure(caption: re.Match[str]) -> str:
    attribute = CAPTION_TEXT.search(caption[1])
    text = attribute[2] if attribute else caption[3].strip()
    return f"<figure>{caption[2]}<figcaption>{text}</figcaption></figure>"


def _link(embed: re.Match[str]) -> str:
    url = embed[1] or embed[2] or embed[3]
    return f'<a href="{url}">{url}</a>'
