"""Ghost exports, written by Settings → Import/Export."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from content.html import is_empty
from converters.normalize import normalize_article
from converters.records import (
    EMPTY_CONTENT,
    MEMBERS_PARTS,
    RESTRICTED,
    UNDATED,
    Converted,
    IgnoredItem,
    Mistake,
    Note,
    SourceArticle,
    SourceError,
    SourceOptions,
)
from converters.site_urls import complete_urls
from converters.unused_fields import DROPPED

STATUS_BY_SOURCE = {"published": "published", "scheduled": "published", "draft": "draft"}
REQUIRED_TABLES = "posts", "tags", "posts_tags"
OTHER_TABLES = "posts_meta", "posts_authors"
REQUIRED_COLUMNS = "id", "title", "slug", "status", "published_at"
KEYS = "id", "post_id", "tag_id", "status"
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


def read_ghost(source: str, export: Any, options: SourceOptions) -> Converted:
    """Yield the posts of `export`, an object with `data`. Raises SourceError if its tables are missing or malformed."""
    tables = export.get("data") if isinstance(export, dict) else None
    if not isinstance(tables, dict):
        raise SourceError("Each entry of db must have tables in its data. Export all content of Ghost again.")
    rows = {name: _read_table(tables, name) for name in (*REQUIRED_TABLES, *OTHER_TABLES)}
    tags = _read_tags(rows["tags"], rows["posts_tags"])
    meta = {row.get("post_id"): row for row in rows["posts_meta"]}
    authors = {row.get("post_id") for row in rows["posts_authors"]}
    for number, row in enumerate(rows["posts"], start=1):
        where = f"{source}, post {row.get('id', number)} {row.get('title', '')!r}"
        id = row.get("id")
        post = _add_meta(row, meta.get(id, {})) | {"author": id in authors}
        if reason := _reason_to_ignore(post):
            yield IgnoredItem("Not imported", str(post.get("slug")), reason)
        elif mistake := _find_mistake(where, post):
            yield mistake
        else:
            yield _convert(where, post, tags[id], options)


def _read_table(tables: dict[str, Any], name: str) -> list[Row]:
    """Return the rows of a table. Raises SourceError if it is required and missing, or malformed."""
    rows = tables.get(name, None if name in REQUIRED_TABLES else [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        reason = f"its table {name} is missing or has no rows of columns"
        raise SourceError(f"Must be an export of Ghost 3 or newer: {reason}. Export all content again.")
    for column in KEYS:
        if not all(isinstance(row.get(column), str | int | None) for row in rows):
            raise SourceError(f"In the table {name}, the column {column} must be text or a number. Export it again.")
    return rows


def _read_tags(tags: Iterable[Row], links: Iterable[Row]) -> defaultdict[Any, list[str]]:
    """Return the names of each post's tags, in their order."""
    names = {tag.get("id"): str(tag.get("name")) for tag in tags}
    found = defaultdict(list)
    for link in sorted(links, key=_sort_order):
        if link.get("tag_id") in names:
            found[link.get("post_id")].append(names[link["tag_id"]])
    return found


def _sort_order(link: Row) -> float:
    order = link.get("sort_order")
    return order if isinstance(order, int | float) else 0


def _add_meta(post: Row, meta: Row) -> Row:
    """Return a post with the columns of its row in `posts_meta`; older versions store them in `posts`."""
    return post | {name: value for name, value in meta.items() if name not in KEYS and not post.get(name)}


def _reason_to_ignore(post: Row) -> str:
    """Return why a post is ignored, or ""."""
    if post.get("type") == "page" or post.get("page"):
        return "pages"
    return "posts that were only sent by email" if post.get("status") == "sent" or post.get("email_only") else ""


def _find_mistake(where: str, post: Row) -> Mistake | None:
    """Return the reason a post cannot be imported, or None."""
    missing = [name for name in REQUIRED_COLUMNS if name not in post or (name == "id" and post[name] is None)]
    if missing:
        return Mistake(where, f"The post lacks {', '.join(missing)}. Export all content of Ghost 3 or newer again.")
    if post["status"] not in STATUS_BY_SOURCE:
        return Mistake(where, "Must be published, scheduled, draft or sent.", "status", post["status"])
    html = post.get("html")
    if not isinstance(html, str) and (html or post["status"] != "draft"):
        return Mistake(where, "The export has no HTML for this post. Export it in Ghost's settings, not via its API.")
    return None


def _convert(where: str, post: Row, tags: list[str], options: SourceOptions) -> SourceArticle:
    """Convert a post, and report the columns that the article does not use."""
    base, html = options.base or "/", post.pop("html", None)
    public_html = MEMBERS_BLOCK.sub("", html or "")
    draft_reason, id = _take_draft_reason(post), str(post["id"])
    article = normalize_article(where, _take_fields(post, tags, base), options)
    article.fields["contentHtml"] = complete_urls(article, SITE.sub(lambda _: base, public_html), options.base)
    article.has_own_id, article.former_id = True, id
    article.old_urls = [f"{base}{article.fields['slug']}/"] if "slug" in article.fields else []
    if draft_reason:
        article.make_draft(draft_reason.kind, draft_reason.detail)
    _note_differences(article, html, public_html)
    for name in (*(f"tag {tag}" for tag in tags if tag.startswith("#")), *_unused_columns(post)):
        article.drop(DROPPED, name)
    return article


def _take_draft_reason(post: Row) -> Note | None:
    """Return why a post becomes a draft, or None. A post without visibility is public."""
    value = post.pop("visibility", None)
    visibility = "public" if value in (None, "") else str(value).strip().lower()
    if visibility != "public":
        return Note(RESTRICTED, visibility[:50])
    if post["status"] != "draft" and not post["published_at"]:
        return Note(UNDATED)
    return None


def _take_fields(post: Row, tags: list[str], base: str) -> Row:
    """Return an article's fields other than its content. They still have to be normalized."""
    public_tags, id = [tag for tag in tags if not tag.startswith("#")], str(post.pop("id"))
    return {
        "id": id if GHOST_ID.fullmatch(id) else "",
        "title": post.pop("title"),
        "slug": post.pop("slug"),
        "status": STATUS_BY_SOURCE[post.pop("status")],
        "published_at": _utc(post.pop("published_at")),
        "created_at": _utc(post.pop("created_at", None)),
        "updated_at": _utc(post.pop("updated_at", None)),
        "category": public_tags[:1],
        "keywords": public_tags,
        "bannerUrl": SITE.sub(lambda _: base, str(post.pop("feature_image", None) or "")),
        "metaTitle": post.pop("meta_title", None),
        "metaDesc": post.pop("meta_description", None) or post.pop("custom_excerpt", None),
    }


def _utc(time: Any) -> str:
    """Add the zone to a UTC timestamp that has none, as in exports of Ghost on SQLite."""
    text = str(time or "")
    return f"{text}Z" if re.fullmatch(r"\d{4}-\d\d-\d\d[T ][\d:.]+", text) else text


def _note_differences(article: SourceArticle, html: str | None, public_html: str) -> None:
    """Note missing and changed content."""
    if html is None:
        article.note("Drafts that are empty because the export has no HTML for them")
    elif is_empty(public_html) and article.fields["status"] == "published":
        article.note(EMPTY_CONTENT)
    if public_html != (html or ""):
        article.note(MEMBERS_PARTS)


def _unused_columns(post: Row) -> Iterator[str]:
    """Yield the columns of a post that still have a value."""
    for name, value in post.items():
        if name not in INTERNAL and value not in UNSET:
            yield name
