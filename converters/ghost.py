"""Ghost exports, from Settings → Import/Export."""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

from converters import note_kinds
from converters.articles import (
    ConvertedItems,
    IgnoredItem,
    ImportProblem,
    Origin,
    SourceArticle,
    SourceError,
    SourceOptions,
    Subject,
    locate_post,
)
from converters.decoding import decode_utf8, parse_json
from converters.leftover_markup import note_leftover_markup
from converters.old_urls import add_pattern_url
from converters.publication import set_claim
from converters.urls import ArticleUrls, old_site
from converters.values import normalize_values, set_slug
from fields import replace_lone_surrogates

OLD_VERSION = re.compile(r"[0-2]\.|0\d\d\Z")  # Ghost 0 numbered its exports 000, 001 and so on
EXPORT_AGAIN = "Export all content again."
REQUIRED_TABLES = ("posts", "tags", "posts_tags")
OPTIONAL_TABLES = ("posts_meta", "users", "posts_authors", "settings")
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
# Columns with another representation of the content, or that only Ghost itself needs
INTERNAL_COLUMNS = {
    *("amp", "author_id", "comment_id", "created_by", "email_recipient_filter", "email_segment", "id", "language"),
    *("lexical", "locale", "mobiledoc", "newsletter_id", "plaintext", "post_id", "published_by", "sort_order"),
    *("tiers", "type", "updated_by", "uuid", "show_title_and_feature_image", "email_count"),
}
CODE_INJECTION = {"codeinjection_head", "codeinjection_foot", "ghost_head", "ghost_foot"}  # settings
# {"db": [… or {"meta": {"version": "5.0.0"}, "data": {…
EXPORT_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"meta"\s*:\s*\{[^{}]*\}\s*,\s*)?"(?:db"\s*:|data"\s*:\s*\{)')
GHOST_ID = re.compile("[0-9a-f]{24}")  # migration tools write small numbers, which repeat in every file
SITE_PLACEHOLDER = re.compile("__GHOST_URL__/?")  # stands for the site's URL
# A part of a public post that Ghost shows only to members
MEMBERS_PART = re.compile(
    r"<!--\s*kg-gated-block:begin(?![^<>]*nonMember:true)[^<>]*>.*?(?:<!--\s*kg-gated-block:end\s*-->|\Z)", re.DOTALL
)
TableRow = dict[str, Any]


def is_ghost_export(start: bytes) -> bool:
    """Return whether a JSON file that begins with these bytes is a Ghost export."""
    return EXPORT_START.match(start) is not None


def read_ghost(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the posts of an export, which is read into memory.

    Raises SourceError if it comes from an old version, or if its tables are missing or malformed, and OSError if it
    cannot be read.
    """
    document = _parse_export(Path(source).read_bytes())
    exports = document.get("db", [document])
    if not isinstance(exports, list) or not exports:
        raise SourceError(f"Must be a Ghost export: db must be a non-empty list of exports. {EXPORT_AGAIN}")
    for export in exports:
        yield from _read_export(source, export, options)


def _parse_export(data: bytes) -> Any:
    """Return an export. Halves of surrogate pairs are replaced. Raises SourceError if it is not JSON."""
    try:
        return parse_json(data, EXPORT_AGAIN)
    except SourceError:
        return parse_json(replace_lone_surrogates(decode_utf8(data)).encode(), EXPORT_AGAIN)


def _read_export(source: str, export: Any, options: SourceOptions) -> ConvertedItems:
    """Yield the posts of an object with `data`, and the settings that inject code.

    Raises SourceError if its tables cannot be read.
    """
    rows = _read_tables(export)
    tags = _names_by_post(rows["tags"], rows["posts_tags"], "tag_id")
    authors = _names_by_post(rows["users"], rows["posts_authors"], "author_id")
    meta = {_id_text(row, "post_id"): row for row in rows["posts_meta"] if row.get("post_id")}
    for number, post in enumerate(rows["posts"], start=1):
        where = locate_post(source, post.get("id", number), post.get("title"))
        id = _id_text(post, "id")
        # Older versions store the columns of posts_meta in posts.
        post |= {name: value for name, value in meta.get(id, {}).items() if not post.get(name)}
        if post.get("type") == "page":
            yield IgnoredItem(note_kinds.NOT_IMPORTED, str(post.get("slug") or ""), "pages")
        elif not _has_html(post):
            yield ImportProblem(
                where, "The export has no HTML for this post. Export it in Ghost's settings, not via its API."
            )
        else:
            # Exports of Ghost on SQLite have times in UTC without a zone.
            yield _convert(where, post | {"authors": authors[id]}, tags[id], options._replace(zone=UTC))
    for setting in rows["settings"]:
        if setting.get("key") in CODE_INJECTION and setting.get("value"):
            yield IgnoredItem(note_kinds.NOT_IMPORTED, setting["key"], "site-wide code injection", "setting")


def _read_tables(export: Any) -> dict[str, list[TableRow]]:
    """Return the rows of the tables that an import needs, by table.

    Raises SourceError if the version is too old, or a table is missing or malformed.
    """
    tables = export.get("data") if isinstance(export, dict) else None
    if not isinstance(tables, dict):
        raise SourceError(f"Must be a Ghost export: each entry of db must have tables in its data. {EXPORT_AGAIN}")
    meta = export.get("meta")
    version = str(meta.get("version")) if isinstance(meta, dict) else ""
    if OLD_VERSION.match(version):
        advice = f"This one has version {version}. Upgrade Ghost, then export again."
        raise SourceError(f"Must be an export from Ghost 3 or newer. {advice}")
    rows: dict[str, list[TableRow]] = {}
    for name in (*REQUIRED_TABLES, *OPTIONAL_TABLES):
        table = tables.get(name, None if name in REQUIRED_TABLES else [])
        if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
            raise SourceError(f"Must be a Ghost export: its table {name} is missing or malformed. {EXPORT_AGAIN}")
        rows[name] = table
    return rows


def _id_text(row: TableRow, column: str) -> str:
    """Return an id as text, or "" if it is missing. In old exports, it is a number."""
    return str(row.get(column) or "")


def _names_by_post(rows: Iterable[TableRow], links: Iterable[TableRow], column: str) -> defaultdict[str, list[str]]:
    """Return the names of each post's tags or authors, in their order. Rows without a name or an id are left out.

    `column` is the one of the links that has the row's id.
    """
    names = {_id_text(row, "id"): str(row["name"]) for row in rows if row.get("id") and row.get("name")}
    found = defaultdict(list)
    for link in sorted(links, key=_sort_order):
        name = names.get(_id_text(link, column))
        if name and link.get("post_id"):
            found[_id_text(link, "post_id")].append(name)
    return found


def _sort_order(link: TableRow) -> float:
    order = link.get("sort_order")
    return order if isinstance(order, int | float) else 0


def _has_html(post: TableRow) -> bool:
    """Return whether the export has HTML for a post. A draft may have none."""
    html = post.get("html")
    return isinstance(html, str) or (html is None and post.get("status") == "draft")


def _convert(where: str, post: TableRow, tags: list[str], options: SourceOptions) -> SourceArticle:
    """Convert a post, removing from it whatever the article uses."""
    id = _id_text(post, "id")
    article = SourceArticle(where, {}, dict(COLUMNS), origin=Origin(options.source or "ghost", id))
    if not id:
        article.reject("id", f"Missing, so later imports could not find the post again. {EXPORT_AGAIN}")
    base = options.base or "/"
    article.fields = _take_fields(post, tags, base)
    written_date = article.fields["publishedAt"]
    normalize_values(article, options)
    set_slug(article)
    if options.old_urls:
        add_pattern_url(article, options.old_urls, written_date)
    elif "slug" in article.fields:
        article.old_urls = [f"{base}{article.fields['slug']}/"]
    _convert_content(article, post.pop("html", None), base)
    # --site is where the articles were, not where they are.
    ArticleUrls(article, old_site(options)._replace(article_url_pattern="")).change()
    note_leftover_markup(article)
    _set_claim(article, post)
    for name, value in post.items():
        if name not in INTERNAL_COLUMNS:
            article.note_unknown(name, value)
    return article


def _take_fields(post: TableRow, tags: list[str], base: str) -> dict[str, Any]:
    """Return an article's fields except its content. Their values still have to be normalized."""
    fields = {field: post.pop(column, None) for field, column in COLUMNS.items()}
    public_tags = [tag for tag in tags if not tag.startswith("#")]
    id = _id_text(post, "id")
    return fields | {
        "id": id if GHOST_ID.fullmatch(id) else "",
        "category": public_tags[0] if public_tags else "",
        "keywords": public_tags,
        "authors": post.pop("authors"),
        "bannerUrl": SITE_PLACEHOLDER.sub(lambda _: base, str(fields["bannerUrl"] or "")),
        "metaDesc": fields["metaDesc"] or post.pop("custom_excerpt", None),
    }


def _convert_content(article: SourceArticle, html: str | None, base: str) -> None:
    """Set an article's content, without the parts for members."""
    public_html = MEMBERS_PART.sub("", html or "")
    article.fields["contentHtml"] = SITE_PLACEHOLDER.sub(lambda _: base, public_html)
    if html is None:
        article.note("Drafts that are empty because the export has no HTML for them")
    elif public_html != html:
        article.note("Members-only parts were removed")


def _set_claim(article: SourceArticle, post: TableRow) -> None:
    """Set what Ghost says about a post: it is published if everyone can read it on the web."""
    status = post.pop("status", None)
    visibility = post.pop("visibility", None)
    is_email = bool(post.pop("email_only", None)) or status == "sent"
    is_restricted = visibility not in (None, "", "public")
    if is_email:
        article.note("Withheld because they were only sent by email", subject=Subject.ACCESS)
    if is_restricted:
        article.note(note_kinds.RESTRICTED, str(visibility), subject=Subject.ACCESS)
    is_public = not (is_email or is_restricted)
    set_claim(article, is_published=is_public and status in ("published", "scheduled"))
