"""Ghost exports, written by Settings → Import/Export."""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

from converters.normalize import normalize_article
from converters.publication import check_published
from converters.records import (
    MEMBERS_PARTS,
    RESTRICTED,
    ConvertedItems,
    Identity,
    IgnoredItem,
    Mistake,
    SourceArticle,
    SourceError,
    SourceOptions,
    parse_json,
)
from converters.site_urls import resolve_urls
from converters.unused_fields import DROPPED

STATUS_BY_SOURCE = {"published": "published", "scheduled": "published", "draft": "draft"}
REQUIRED_TABLES = "posts", "tags", "posts_tags"
OTHER_TABLES = "posts_meta", "posts_authors"
REQUIRED_COLUMNS = "id", "title", "slug", "status", "published_at"
GHOST_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"meta"\s*:\s*\{[^{}]*\}\s*,\s*)?"(?:db"\s*:|data"\s*:\s*\{)')
GHOST_ID = re.compile("[0-9a-f]{24}")  # migration tools write small numbers, which repeat in every file
SITE = re.compile("__GHOST_URL__/?")  # stands for the site's URL
# A part of a public post that Ghost shows only to members
MEMBERS_BLOCK = re.compile(
    r"<!--\s*kg-gated-block:begin(?![^<>]*nonMember:true)[^<>]*>.*?(?:<!--\s*kg-gated-block:end\s*-->|\Z)", re.DOTALL
)
# Columns with another representation of the content, or that only Ghost itself needs
INTERNAL = {
    *("amp", "author_id", "comment_id", "created_by", "email_recipient_filter", "email_segment", "id", "language"),
    *("lexical", "locale", "mobiledoc", "newsletter_id", "plaintext", "post_id", "published_by", "sort_order"),
    *("tiers", "type", "updated_by", "uuid", "show_title_and_feature_image", "email_count", "email_only"),
}
Row = dict[str, Any]
UNSET: tuple[Any, ...] = None, "", 0, False, [], {}, "none"


def is_ghost_export(start: bytes) -> bool:
    """Return whether a JSON file that begins with these bytes is a Ghost export."""
    return GHOST_START.match(start) is not None


def read_ghost(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the posts of a Ghost export, which is read into memory. Raises SourceError or OSError."""
    document = parse_json(Path(source).read_bytes(), "Export all content from Ghost again.")
    for export in document.get("db", [document]) or [None]:
        yield from _read_export(source, export, options)


def _read_export(source: str, export: Any, options: SourceOptions) -> ConvertedItems:
    """Yield the posts of `export`, an object with `data`. Raises SourceError if its tables are missing or malformed."""
    tables = export.get("data") if isinstance(export, dict) else None
    if not isinstance(tables, dict):
        raise SourceError("Each entry of db must have tables in its data. Export all content from Ghost again.")
    rows = {name: _read_table(tables, name) for name in (*REQUIRED_TABLES, *OTHER_TABLES)}
    tags = _read_tags(rows["tags"], rows["posts_tags"])
    meta = {_key(row, "post_id"): row for row in rows["posts_meta"]}
    authors = {_key(row, "post_id") for row in rows["posts_authors"]}
    for number, post in enumerate(rows["posts"], start=1):
        where, id = f"{source}, post {post.get('id', number)} {post.get('title', '')!r}", _key(post, "id")
        # Older versions store the columns of posts_meta in posts.
        post |= {name: value for name, value in meta.get(id, {}).items() if not post.get(name)}
        post["author"] = id in authors
        if reason := _reason_to_ignore(post):
            yield IgnoredItem("Not imported", str(post.get("slug")), reason)
        elif mistake := _find_mistake(where, post):
            yield mistake
        else:
            # Exports of Ghost on SQLite have times in UTC without a zone.
            yield _convert(where, post, tags[id], options._replace(zone=UTC))


def _read_table(tables: dict[str, Any], name: str) -> list[Row]:
    """Return the rows of a table. Raises SourceError if it is required and missing, or malformed."""
    rows = tables.get(name, None if name in REQUIRED_TABLES else [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        reason = f"its table {name} is missing or malformed"
        raise SourceError(f"Must be an export of Ghost 3 or newer: {reason}. Export all content again.")
    return rows


def _key(row: Row, column: str) -> str:
    """Return an id as text; in old exports, it is a number."""
    return str(row.get(column))


def _read_tags(tags: Iterable[Row], links: Iterable[Row]) -> defaultdict[str, list[str]]:
    """Return the names of each post's tags, in their order."""
    names = {_key(tag, "id"): str(tag.get("name")) for tag in tags}
    found = defaultdict(list)
    for link in sorted(links, key=_sort_order):
        if name := names.get(_key(link, "tag_id")):
            found[_key(link, "post_id")].append(name)
    return found


def _sort_order(link: Row) -> float:
    order = link.get("sort_order")
    return order if isinstance(order, int | float) else 0


def _reason_to_ignore(post: Row) -> str:
    """Return why a post is ignored, or ""."""
    if post.get("type") == "page" or post.get("page"):
        return "pages"
    return "posts that were only sent by email" if post.get("status") == "sent" or post.get("email_only") else ""


def _find_mistake(where: str, post: Row) -> Mistake | None:
    """Return the reason a post cannot be imported, or None."""
    missing = [name for name in REQUIRED_COLUMNS if name not in post]
    if missing:
        return Mistake(where, f"The post lacks {', '.join(missing)}. Export all content again, from Ghost 3 or newer.")
    if not isinstance(post["id"], str | int):
        return Mistake(where, "Must be text or a number.", "id", post["id"])
    if str(post["status"]) not in STATUS_BY_SOURCE:
        return Mistake(where, "Must be published, scheduled, draft or sent.", "status", post["status"])
    html = post.get("html")
    if not isinstance(html, str) and (html is not None or post["status"] != "draft"):
        return Mistake(where, "The export has no HTML for this post. Export it in Ghost's settings, not via its API.")
    return None


def _convert(where: str, post: Row, tags: list[str], options: SourceOptions) -> SourceArticle:
    """Convert a post, and report the columns that the article does not use."""
    base, html = options.base or "/", post.pop("html", None)
    public_html = MEMBERS_BLOCK.sub("", html or "")
    article = normalize_article(where, _take_fields(post, tags, base), options)
    article.fields["contentHtml"] = resolve_urls(article, SITE.sub(lambda _: base, public_html), options.base)
    article.identity = Identity.SOURCE
    article.former_id = _key(post, "id")
    article.old_urls = [f"{base}{article.fields['slug']}/"] if "slug" in article.fields else []
    visibility = post.pop("visibility", None)
    if visibility not in (None, "") and (readers := str(visibility).strip().lower()) != "public":
        article.make_draft(RESTRICTED, readers[:50])
    check_published(article)
    if html is None:
        article.note("Drafts that are empty because the export has no HTML for them")
    elif public_html != html:
        article.note(MEMBERS_PARTS)
    hidden_tags = [f"tag {tag}" for tag in tags if tag.startswith("#")]
    unused_columns = [name for name, value in post.items() if name not in INTERNAL and value not in UNSET]
    for name in hidden_tags + unused_columns:
        article.drop(DROPPED, name)
    return article


def _take_fields(post: Row, tags: list[str], base: str) -> Row:
    """Return an article's fields other than its content. They still have to be normalized."""
    public_tags, id = [tag for tag in tags if not tag.startswith("#")], _key(post, "id")
    return {
        "id": id if GHOST_ID.fullmatch(id) else "",
        "title": post.pop("title"),
        "slug": post.pop("slug"),
        "status": STATUS_BY_SOURCE[post.pop("status")],
        "published_at": post.pop("published_at"),
        "created_at": post.pop("created_at", None),
        "updated_at": post.pop("updated_at", None),
        "category": public_tags[:1],
        "keywords": public_tags,
        "bannerUrl": SITE.sub(lambda _: base, str(post.pop("feature_image", None) or "")),
        "metaTitle": post.pop("meta_title", None),
        "metaDesc": post.pop("meta_description", None) or post.pop("custom_excerpt", None),
    }
