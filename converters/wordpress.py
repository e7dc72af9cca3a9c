"""WordPress exports (WXR), as Tools → Export writes them: from their items to articles."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from content.html import decode_references, visible_words
from converters.normalize import normalize_article, slug_from_title
from converters.records import Converted, IgnoredItem, SourceArticle, SourceError, SourceOptions, mistake
from converters.site_urls import complete_urls
from converters.wordpress_content import Rendered, render
from converters.wordpress_seo import (
    DESCRIPTIONS,
    PREFIXES,
    PRIMARY_CATEGORIES,
    TITLES,
    fill_placeholders,
    unused_values,
)
from converters.wordpress_xml import read_elements

STATUSES = {"publish": "published", "future": "published", "draft": "draft", "pending": "draft", "private": "draft"}
# What these elements of a post contain is used in another element, or is about the old site's workings.
INTERNAL = {
    "attachment_url",
    "comment_status",
    "description",
    "guid",
    "menu_order",
    "ping_status",
    "post_date",
    "post_id",
    "post_modified",
    "post_parent",
    "post_date_gmt",
    "post_modified_gmt",
    "pubDate",
    "status",
}
PICTURES = (".avif", ".bmp", ".gif", ".heic", ".ico", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp")
NAMES = {"creator": "author", "is_sticky": "sticky", "excerpt": "excerpts of posts that have a description"}
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
MAX_BLOG_LENGTH = 43  # characters of the blog in an id of 64, before a number of up to 10 digits
LEFT_OUT = "Left out"
BLOCKS = {
    "block": "Synced patterns that the export lacks. Export All content, and import all files in one command",
    "footnotes": "Footnotes that the export lacks",
}


@dataclass
class Item:
    """An item of an export, such as a post. What an article uses is taken out of it."""

    texts: dict[str, str] = field(default_factory=dict)  # by element
    meta: dict[str, str] = field(default_factory=dict)  # by key
    terms: dict[str, list[str]] = field(default_factory=dict)  # names by taxonomy
    has_comments: bool = False

    def take(self, name: str) -> str:
        """Remove the text of an element and return it, or "" if there is none."""
        return self.texts.pop(name, "")

    def take_meta(self, *keys: str) -> tuple[str, str]:
        """Remove the first value that one of the keys has, and return the key and the value, or two empty texts."""
        key = next((key for key in keys if self.meta.get(key)), "")
        return key, self.meta.pop(key, "")


@dataclass
class Blog:
    """What the posts of a blog refer to, from all of its files."""

    url: str = ""
    name: str = ""  # in ids
    title: str = ""
    images: dict[str, str] = field(default_factory=dict)  # URLs by id
    categories: dict[str, str] = field(default_factory=dict)  # names by id
    patterns: dict[str, str] = field(default_factory=dict)  # contents by id
    unused_patterns: dict[str, str] = field(default_factory=dict)  # titles by id

    def add(self, other: "Blog") -> None:
        """Add what another file of the same blog has. An empty id refers to nothing."""
        for own, found in (
            (self.images, other.images),
            (self.categories, other.categories),
            (self.patterns, other.patterns),
            (self.unused_patterns, other.unused_patterns),
        ):
            own |= found
            own.pop("", None)


def read_wordpress(sources: Iterable[str], options: SourceOptions) -> Converted:
    """Yield the posts of exports. Those of one blog are one export, whatever their order.

    Each file is read twice: for what posts refer to, then for the posts.
    """
    blogs: dict[str, Blog] = {}
    readable = []
    for source in sources:
        try:
            readable.append((source, _index(source, blogs)))
        except (SourceError, OSError) as error:
            yield mistake(source, error)
    for source, blog in readable:
        own_options = options if options.site else options._replace(site=blog.url)
        for element in read_elements(source):
            if element.tag == "item":
                yield from _convert(source, _parse_item(element), blog, own_options)
            elif term := _described_term(element):
                yield IgnoredItem(LEFT_OUT, term, "descriptions and parents of categories and tags", "term")
    for blog in blogs.values():
        for title in blog.unused_patterns.values():
            yield IgnoredItem(LEFT_OUT, title, "synced patterns that no post contains", "pattern")


def _index(source: str, blogs: dict[str, Blog]) -> Blog:
    """Add what posts refer to in a file to its blog, and return the blog. Raises SourceError or OSError."""
    found, link, is_export = Blog(), "", False
    for element in read_elements(source):
        name, text = _name(element.tag), (element.text or "").strip()
        if name == "item":
            _index_item(element, found)
        elif name == "category":
            term = _child_texts(element)
            if term.get("cat_name"):
                found.categories[term.get("term_id", "")] = decode_references(term["cat_name"])
        elif name == "title":
            found.title = decode_references(text)
        elif name == "link":
            link = text
        elif name == "base_blog_url":
            found.url = text
        is_export = is_export or name in ("base_blog_url", "wxr_version")
    if not is_export:
        raise SourceError("Must be a WordPress export (WXR), as Tools → Export writes it.")
    found.url = found.url or link
    found.name = _blog_name(found.url)
    blog = blogs.setdefault(found.name, found)
    blog.add(found)
    return blog


def _blog_name(url: str) -> str:
    """Return a blog's URL as its articles' ids contain it. A long one ends with a hash."""
    name = re.sub("^(?:https?:)?//(?:www[.])?", "", url.lower()).strip("/").replace("/", "-")
    if len(name) <= MAX_BLOG_LENGTH:
        return name
    digest = sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_BLOG_LENGTH - 9]}-{digest}"


def _index_item(element: Element, blog: Blog) -> None:
    """Add an attachment's URL or a synced pattern's content to a blog."""
    if element.findtext("{*}post_type") not in ("attachment", "wp_block"):
        return
    texts = _child_texts(element)
    if texts["post_type"] == "attachment":
        blog.images[texts.get("post_id", "")] = texts.get("attachment_url") or texts.get("guid", "")
    elif texts.get("status") == "publish" and not texts.get("post_password"):
        blog.patterns[texts.get("post_id", "")] = texts.get("content", "")
        blog.unused_patterns[texts.get("post_id", "")] = texts.get("title", "")


@cache
def _name(tag: str) -> str:
    """Return an element's name: of content:encoded and excerpt:encoded the prefix, of an unknown namespace both."""
    namespace, _, name = tag.rpartition("}")
    vocabulary = namespace.rstrip("/").rpartition("/")[2]
    if name == "encoded":
        return vocabulary
    return name if not namespace or "/export/" in namespace or "purl.org" in namespace else f"{vocabulary}:{name}"


def _child_texts(element: Element) -> dict[str, str]:
    """Return the texts of the elements that an element contains, by name. Of several, the first one."""
    texts: dict[str, str] = {}
    for child in element:
        texts.setdefault(_name(child.tag), child.text or "")
    return texts


def _described_term(element: Element) -> str:
    """Return the name of a term of the channel that has a description or a parent, else ""."""
    if len(element) and _name(element.tag) in ("category", "tag", "term"):
        texts = _child_texts(element)
        names = "category_description", "tag_description", "term_description", "category_parent", "term_parent"
        if any(texts.get(name) for name in names):
            return texts.get("cat_name") or texts.get("tag_name") or texts.get("term_name") or "(no name)"
    return ""


def _parse_item(element: Element) -> Item:
    item = Item()
    for child in element:
        name = _name(child.tag)
        if name == "category":
            term = decode_references(child.text or "").strip()
            item.terms.setdefault(child.get("domain", ""), []).append(term)
        elif name == "postmeta":
            texts = _child_texts(child)
            item.meta.setdefault(texts.get("meta_key", ""), texts.get("meta_value", ""))
        elif name == "comment":
            item.has_comments = True
        else:
            item.texts.setdefault(name, child.text or "")
    # Old exports have each category and tag twice, first without saying which it is.
    unknown = item.terms.pop("", None)
    if unknown and not item.terms:
        item.terms["category"] = unknown
    return item


def _convert(source: str, item: Item, blog: Blog, options: SourceOptions) -> Converted:
    """Yield a post as an article, and another item as ignored."""
    kind, status = item.take("post_type"), item.texts.get("status", "")
    number, title = item.texts.get("post_id", ""), _plain(item.texts.get("title", ""))
    name = unquote(item.texts.get("post_name", "")) or title or number
    if kind == "attachment":
        is_picture = item.texts.get("attachment_url", "").lower().endswith(PICTURES)
        yield IgnoredItem(f"{'Pictures' if is_picture else 'Other files'} stay at their URLs", "", unit="attachment")
    elif kind != "post":
        if number not in blog.patterns:
            yield IgnoredItem(LEFT_OUT, name, f"posts of the type {kind}" if kind else "items without a type", "item")
    elif status not in STATUSES:
        yield IgnoredItem(LEFT_OUT, name, f"posts of the status {status}" if status else "posts without a status")
    elif STATUSES[status] == "draft" and not title and not item.texts.get("content", "").strip():
        yield IgnoredItem(LEFT_OUT, name, "drafts without a title and content")
    else:
        where = f"{source}, post {number} {title!r}"
        try:
            yield _read_post(where, item, blog, options)
        except SourceError as error:
            yield mistake(where, error)


def _read_post(where: str, item: Item, blog: Blog, options: SourceOptions) -> SourceArticle:
    """Return a post as an article. Raises SourceError."""
    rendered = render(item.take("content"), blog.patterns, item.meta.get("footnotes", ""))
    for pattern in rendered.patterns:
        blog.unused_patterns.pop(pattern, None)
    number, title = item.take("post_id"), _plain(item.take("title")) or "(no title)"
    link = item.take("link").strip()
    status, is_closed = STATUSES[item.texts["status"]], bool(item.take("post_password"))
    is_closed = is_closed or item.texts["status"] == "private"
    published_at = _utc(item.take("post_date_gmt")) or (item.take("post_date") if status == "published" else "")
    has_no_date = status == "published" and not published_at
    categories = _take_categories(item, blog)
    fields = {
        "id": f"wordpress-{blog.name}-{number}" if blog.name and number else "",
        "slug": unquote(item.take("post_name")) or slug_from_title(title, number),
        "status": "draft" if is_closed or has_no_date else status,
        "publishedAt": published_at,
        "updatedAt": _utc(item.take("post_modified_gmt")),
        "category": categories[:1],
        "keywords": item.terms.pop("post_tag", []),
        "bannerUrl": blog.images.get(item.meta.get("_thumbnail_id", "")),
    }
    texts = {"title": title, "sep": "-", "sitename": blog.title, "page": ""}
    article = normalize_article(where, fields | _take_meta_texts(item, texts), options)
    # Every WordPress numbers its posts from 1, and version 1.2.1 had ids without the blog.
    article.has_own_id, article.former_id = True, f"wordpress-{number}"
    article.old_urls = [link] if link else []
    # A title is text here, and the content has no templates.
    article.fields |= {"title": title, "contentHtml": complete_urls(article, rendered.html, options.site)}
    if is_closed:
        article.note("Drafts, because they are private or have a password")
    elif has_no_date:
        article.note("Drafts, because they have no date")
    if len(categories) > 1:
        article.drop(LEFT_OUT, "categories after the first")
    _note_content(article, rendered)
    _drop_rest(article, item, rendered)
    return article


def _plain(html: str) -> str:
    """Return the text of a title, which is HTML."""
    return " ".join(decode_references(TAG.sub("", html)).split())


def _take_categories(item: Item, blog: Blog) -> list[str]:
    """Return the names of a post's categories, the primary one first."""
    names = item.terms.pop("category", [])
    for key in PRIMARY_CATEGORIES:
        primary = blog.categories.get(item.meta.get(key, ""))
        if primary in names or (primary and not names):
            del item.meta[key]
            return list(dict.fromkeys([primary, *names]))
    return list(dict.fromkeys(names))


def _take_meta_texts(item: Item, words: dict[str, str]) -> dict[str, str]:
    """Return the title and the description that a person has written for search engines, else the excerpt.

    Those with other placeholders than `words` stay in the item.
    """
    texts = {}
    for name, keys in (("metaTitle", TITLES), ("metaDesc", DESCRIPTIONS)):
        for key in keys:
            filled = fill_placeholders(key, item.meta.get(key, ""), words)
            if filled and name not in texts:
                texts[name] = filled
                del item.meta[key]
    if "metaDesc" not in texts:
        texts["metaDesc"] = " ".join(visible_words(item.take("excerpt")))
    return texts


def _utc(time: str) -> str:
    """Return a time in UTC with its zone, and "" for that of a post that was never published: 0000-00-00 00:00:00."""
    return f"{time}Z" if time > "0001" else ""


def _note_content(article: SourceArticle, rendered: Rendered) -> None:
    """Note what looks different here than in WordPress."""
    if rendered.is_empty and article.fields["status"] == "published":
        article.note("Published without any content")
    for block in dict.fromkeys(rendered.dynamic_blocks):
        if block in BLOCKS:
            article.note(BLOCKS[block])
        else:
            article.note("Missing blocks, which WordPress fills when it shows the page", block)
    if rendered.overrides_patterns:
        article.note("Synced patterns that show their own text instead of the post's")
    for name in rendered.shortcodes:
        article.note("Shortcodes, which stay as text", f"[{name}]")


def _drop_rest(article: SourceArticle, item: Item, rendered: Rendered) -> None:
    """Record as dropped what the article has not used of its item."""
    if rendered.uses_footnotes:
        del item.meta["footnotes"]
    if item.meta.get("_thumbnail_id", "0") > "0" and "bannerUrl" not in article.fields:
        article.drop("Featured images that the export lacks. Export All content, and import all files in one command")
    if item.has_comments:
        article.drop(LEFT_OUT, "comments")
    for name, text in item.texts.items():
        if name not in INTERNAL and text.strip() not in ("", "0"):
            article.drop(LEFT_OUT, NAMES.get(name, name))
    for taxonomy in item.terms:
        article.drop("Left out of other taxonomies", taxonomy)
    for name in dict.fromkeys(unused_values(item.meta)):
        article.drop("Left out of search engines' settings", name)
    for key, value in item.meta.items():
        if value.strip() and not key.startswith(("_", *PREFIXES)):
            article.drop("Left out of custom fields", key)
