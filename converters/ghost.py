"""Ghost exports, from Settings → Import/Export."""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

from converters.article_urls import ArticleUrls, old_site
from converters.claims import RESTRICTED, note_unknown_status, set_claim
from converters.decoding import parse_json
from converters.leftover_markup import note_leftover_markup
from converters.source_articles import (
    ConvertedItems,
    ImportProblem,
    Origin,
    SourceArticle,
    SourceError,
    SourceOptions,
    Subject,
    locate_post,
)
from converters.values import normalize_values, set_slug

OLD_VERSION = re.compile(r"[0-3]\.|0\d\d\Z")  # Ghost 0 numbered its exports 000, 001 and so on
EXPORT_AGAIN = "Export all content again."
NO_HTML = "The export has no HTML for this post. Export it in Ghost's settings, not via its API."
TABLES = ("posts", "tags", "posts_tags", "posts_meta", "users", "posts_authors")
COLUMNS = {  # by field
    "title": "title",
    "slug": "slug",
    "publishedAt": "published_at",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "bannerUrl": "feature_image",
    "metaTitle": "meta_title",
    "metaDesc": "meta_description",
}
START_LENGTH = 4096  # bytes, by which an export is recognized
# {"db": [… or {"meta": {"version": "5.0.0"}, "data": {…
EXPORT_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"meta"\s*:\s*\{[^{}]*\}\s*,\s*)?"(?:db"\s*:|data"\s*:\s*\{)')
GHOST_ID = re.compile("[0-9a-f]{24}")  # migration tools write small numbers, which repeat in every file
SITE_PLACEHOLDER = re.compile("__GHOST_URL__/?")  # stands for the site's URL
# A part of a public post that Ghost shows only to members
MEMBERS_PART = re.compile(
    r"<!--\s*kg-gated-block:begin(?![^<>]*nonMember:true)[^<>]*>.*?(?:<!--\s*kg-gated-block:end\s*-->|\Z)", re.DOTALL
)
TableRow = dict[str, Any]


def is_ghost_export(path: str) -> bool:
    """Return whether a JSON file is a Ghost export, by its beginning. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        return EXPORT_START.match(file.read(START_LENGTH)) is not None


def read_ghost(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the posts of an export, which is read into memory.

    Raises SourceError if it has none or comes from an old version, or if its tables are malformed, and
    OSError if it cannot be read.
    """
    document = parse_json(Path(source).read_bytes(), EXPORT_AGAIN)
    exports = document.get("db", [document])
    if not isinstance(exports, list) or not exports:
        raise SourceError(f"Must be a Ghost export: db must be a non-empty list of exports. {EXPORT_AGAIN}")
    tables = [_read_tables(export) for export in exports]
    posts = [post for rows in tables for post in rows["posts"]]
    if not any(post.get("type") != "page" for post in posts):
        raise SourceError(f"Contains no posts, but {len(posts)} pages. {EXPORT_AGAIN}")
    for rows in tables:
        yield from _convert_posts(source, rows, options)


def _convert_posts(source: str, rows: dict[str, list[TableRow]], options: SourceOptions) -> ConvertedItems:
    """Yield the posts of an export, given the rows of its tables."""
    tags = _names_by_post(rows["tags"], rows["posts_tags"], "tag_id")
    authors = _names_by_post(rows["users"], rows["posts_authors"], "author_id")
    meta = {str(row["post_id"]): row for row in rows["posts_meta"] if row.get("post_id")}
    for number, post in enumerate(rows["posts"], start=1):
        if post.get("type") == "page":
            continue
        where = locate_post(source, post.get("id", number), post.get("title"))
        id = str(post.get("id") or "")
        # Older versions store the columns of posts_meta in posts.
        complete = post | {name: value for name, value in meta.get(id, {}).items() if not post.get(name)}
        html = post.get("html")
        if isinstance(html, str) or (html is None and post.get("status") == "draft"):
            yield _convert(where, complete | {"id": id}, tags[id], authors[id], options)
        else:
            yield ImportProblem(where, NO_HTML, origin=Origin(options.source or "ghost", id))


def _read_tables(export: Any) -> dict[str, list[TableRow]]:
    """Return the rows of the tables that an import needs, by table.

    Raises SourceError if the version is too old, or a table is malformed.
    """
    tables = export.get("data") if isinstance(export, dict) else None
    if not isinstance(tables, dict) or "posts" not in tables:
        raise SourceError(f"Must be a Ghost export: each entry of db must have posts in its data. {EXPORT_AGAIN}")
    meta = export.get("meta")
    version = str(meta.get("version")) if isinstance(meta, dict) else ""
    if OLD_VERSION.match(version):
        advice = f"This one has version {version}. Upgrade Ghost, then export again."
        raise SourceError(f"Must be an export from Ghost 4 or newer. {advice}")
    rows: dict[str, list[TableRow]] = {}
    for name in TABLES:
        table = tables.get(name, [])
        if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
            raise SourceError(f"Must be a Ghost export: its table {name} is malformed. {EXPORT_AGAIN}")
        rows[name] = table
    return rows


def _names_by_post(rows: Iterable[TableRow], links: Iterable[TableRow], column: str) -> defaultdict[str, list[str]]:
    """Return the names of each post's tags or authors, in their order. Rows without a name or an id are left out.

    `column` is the one of the links that has the row's id.
    """
    names = {str(row["id"]): str(row["name"]) for row in rows if row.get("id") and row.get("name")}
    found = defaultdict(list)
    for link in sorted(links, key=_sort_order):
        name = names.get(str(link.get(column)))
        if name and link.get("post_id"):
            found[str(link["post_id"])].append(name)
    return found


def _sort_order(link: TableRow) -> float:
    order = link.get("sort_order")
    return order if isinstance(order, int | float) else 0


def _convert(where: str, post: TableRow, tags: list[str], authors: list[str], options: SourceOptions) -> SourceArticle:
    """Return the article of a post that has HTML, or is a draft. Times without a zone are in UTC."""
    site = options.base or "/"
    article = SourceArticle(where, {}, dict(COLUMNS), origin=Origin(options.source or "ghost", post["id"]))
    if not post["id"]:
        article.reject("id", f"Missing, so later imports could not find the post again. {EXPORT_AGAIN}")
    article.fields = _read_fields(post, tags, site) | {"authors": authors}
    if MEMBERS_PART.search(post.get("html") or ""):
        article.note("Members-only parts were removed", subject=Subject.ACCESS)
    normalize_values(article, options._replace(zone=UTC))
    set_slug(article)
    if "slug" in article.fields:
        article.old_urls = [f"{site}{article.fields['slug']}/"]
    # --site is where the articles were, not where they are.
    ArticleUrls(article, old_site(options)._replace(article_url_pattern="")).change()
    note_leftover_markup(article, drop_tags=options.drop_tags)
    _set_claim(article, post)
    return article


def _read_fields(post: TableRow, tags: list[str], site: str) -> dict[str, Any]:
    """Return an article's fields except the authors. Their values still have to be normalized."""
    public_tags = [tag for tag in tags if not tag.startswith("#")]
    html = MEMBERS_PART.sub("", post.get("html") or "")
    return {field: post.get(column) for field, column in COLUMNS.items()} | {
        "id": post["id"] if GHOST_ID.fullmatch(post["id"]) else "",
        "category": public_tags[:1],
        "keywords": public_tags,
        "bannerUrl": SITE_PLACEHOLDER.sub(lambda _: site, str(post.get("feature_image") or "")),
        "metaDesc": post.get("meta_description") or post.get("custom_excerpt"),
        "contentHtml": SITE_PLACEHOLDER.sub(lambda _: site, html),
    }


def _set_claim(article: SourceArticle, post: TableRow) -> None:
    """Set what Ghost says about a post: it is published if everyone can read it on the web."""
    status = post.get("status")
    note_unknown_status(article, status)
    visibility = "public" if post.get("visibility") in (None, "") else post["visibility"]
    is_email = bool(post.get("email_only")) or status == "sent"
    if is_email:
        article.note("Withheld because they were only sent by email", subject=Subject.ACCESS)
    if visibility != "public":
        article.note(RESTRICTED, str(visibility), subject=Subject.ACCESS)
    is_public = visibility == "public" and not is_email
    is_due = status == "published" or (status == "scheduled" and "publishedAt" in article.fields)
    set_claim(article, is_published=is_public and is_due)
