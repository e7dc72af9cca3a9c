"""WordPress exports (WXR), written by Tools → Export."""

from collections.abc import Iterable
from urllib.parse import unquote

from converters.file_names import PICTURES
from converters.records import ConvertedItems, IgnoredItem, SourceError, SourceOptions, unreadable
from converters.wordpress_items import Blog, Item, described_term, index_file, parse_item
from converters.wordpress_posts import STATUS_BY_SOURCE, convert_post, plain_title
from converters.wordpress_xml import read_elements

NOT_IMPORTED = "Not imported"
IGNORED_TYPES = {
    "": "items without a type",
    "nav_menu_item": "menu items",
    "page": "pages",
    "wp_block": "synced patterns that are not published",
}
IGNORED_STATUSES = {"": "posts without a status", "trash": "posts in the trash", "auto-draft": "automatic drafts"}


def read_wordpress(sources: Iterable[str], options: SourceOptions) -> ConvertedItems:
    """Yield the posts of exports. Files of the same blog are one export, in any order.

    Each file is read twice: first the images, categories and patterns that posts refer to, then the posts.
    """
    blogs: dict[str, Blog] = {}
    readable = []
    for source in sources:
        try:
            readable.append((source, index_file(source, blogs)))
        except (SourceError, OSError) as error:
            yield unreadable(source, error, is_fatal=True)
    for source, blog in readable:
        yield from _read_file(source, blog, options)
    for blog in blogs.values():
        for pattern in blog.patterns.values():
            if pattern.is_public and not pattern.is_used:
                yield IgnoredItem(NOT_IMPORTED, pattern.title, "synced patterns that no post contains", "pattern")


def _read_file(source: str, blog: Blog, options: SourceOptions) -> ConvertedItems:
    """Yield the posts and the ignored items of one file."""
    for element in read_elements(source):
        if element.tag == "item":
            yield from _convert(source, parse_item(element), blog, options)
        elif term := described_term(element):
            yield IgnoredItem(NOT_IMPORTED, term, "descriptions and parents of categories and tags", "term")


def _convert(source: str, item: Item, blog: Blog, options: SourceOptions) -> ConvertedItems:
    """Yield a post as an article, and any other item as ignored, except public patterns, which posts may contain."""
    number, title = item.texts.get("post_id", ""), plain_title(item.texts.get("title", ""))
    if reason := _reason_to_ignore(item, title):
        yield IgnoredItem(NOT_IMPORTED, unquote(item.texts.get("post_name", "")) or title or number, reason, "item")
    elif item.texts["post_type"] == "attachment":
        is_picture = item.texts.get("attachment_url", "").lower().endswith(PICTURES)
        kind = f"{'Pictures' if is_picture else 'Other files'} stay on the old site"
        yield IgnoredItem(kind, "", unit="attachment")
    elif item.texts["post_type"] == "post":
        where = f"{source}, post {number} {title!r}"
        try:
            yield convert_post(where, item, blog, options)
        except SourceError as error:
            yield unreadable(where, error)


def _reason_to_ignore(item: Item, title: str) -> str:
    """Return why an item is ignored, or ""."""
    kind, status = item.texts.get("post_type", ""), item.texts.get("status", "")
    if kind == "attachment" or (kind == "wp_block" and status == "publish" and not item.texts.get("post_password")):
        return ""
    if kind != "post":
        return IGNORED_TYPES.get(kind, f"posts of the type {kind}")
    if status not in STATUS_BY_SOURCE:
        return IGNORED_STATUSES.get(status, f"posts with the status {status}")
    is_blank = not title and not item.texts.get("content", "").strip()
    return "drafts without a title or content" if is_blank and STATUS_BY_SOURCE[status] == "draft" else ""
