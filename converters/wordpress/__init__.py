"""WordPress exports (WXR), from Tools → Export."""

from collections.abc import Iterable
from urllib.parse import unquote

from converters import note_kinds
from converters.articles import (
    ConvertedItems,
    IgnoredItem,
    SourceArticle,
    SourceError,
    SourceOptions,
    locate_post,
    unreadable_problem,
)
from converters.media_suffixes import FILE_SUFFIXES
from converters.wordpress.blogs import Blog, SyncedPattern, index_file
from converters.wordpress.items import Item, parse_item
from converters.wordpress.posts import POST_NUMBER, PUBLIC_STATUSES, article_id, convert_post, plain_title, post_origin
from converters.wordpress.xml_reader import read_elements

IGNORED_KINDS = {
    "": "items without a type",
    "nav_menu_item": "menu items",
    "page": "pages",
    "wp_block": "synced patterns that are not published",
}


def read_wordpress(sources: Iterable[str], options: SourceOptions) -> ConvertedItems:
    """Yield the posts of exports. Files of the same blog are one export, in any order.

    Each file is read twice: first what its posts refer to, such as attachments and categories, then the posts.
    """
    blogs: dict[str, Blog] = {}
    readable: list[tuple[str, Blog]] = []
    for source in sources:
        try:
            readable.append((source, index_file(source, blogs)))
        except (SourceError, OSError) as error:
            yield unreadable_problem(source, error, is_fatal=True)
    for source, blog in readable:
        yield from _read_file(source, blog, options)
    for blog in blogs.values():
        for pattern in blog.patterns.values():
            if pattern.is_public and not pattern.is_used:
                yield IgnoredItem(
                    note_kinds.NOT_IMPORTED, pattern.title, "synced patterns that no post contains", "pattern"
                )


def _read_file(source: str, blog: Blog, options: SourceOptions) -> ConvertedItems:
    """Yield the posts and the ignored items of one file."""
    for element in read_elements(source):
        if element.tag == "item":
            yield from _convert(source, parse_item(element), blog, options)


def _convert(source: str, item: Item, blog: Blog, options: SourceOptions) -> ConvertedItems:
    """Yield a post as an article, and any other item as ignored, except public patterns, which posts may contain."""
    post_id = item.texts.get("post_id", "").strip()
    title = plain_title(item.texts.get("title", ""))
    reason = _reason_to_ignore(item, title, blog.patterns.get(post_id))
    if item.kind == "attachment":
        if not item.texts.get("attachment_url", "").lower().endswith(FILE_SUFFIXES):
            yield IgnoredItem("Other files stay at their URLs", "", unit="attachment")
    elif reason:
        if item.kind == "post" and item.status == "trash" and POST_NUMBER.fullmatch(post_id):
            fields = {"id": article_id(blog, post_id)}
            yield SourceArticle(source, fields, origin=post_origin(blog, post_id, options), is_trashed=True)
        yield IgnoredItem(
            note_kinds.NOT_IMPORTED, unquote(item.texts.get("post_name", "")) or title or post_id, reason, "item"
        )
    elif item.kind == "post":
        yield convert_post(locate_post(source, post_id, title), item, blog, options)


def _reason_to_ignore(item: Item, title: str, pattern: SyncedPattern | None) -> str:
    """Return why an item is ignored, or "" for posts and public patterns."""
    if item.kind != "post":
        is_public_pattern = pattern is not None and pattern.is_public and item.kind == "wp_block"
        return "" if is_public_pattern else IGNORED_KINDS.get(item.kind, f"posts of the type {item.kind}")
    if item.status == "trash":
        return "posts in the trash"
    is_blank = not title and not item.texts.get("content", "").strip()
    return "drafts without a title or content" if is_blank and item.status not in PUBLIC_STATUSES else ""
