"""Ghost exports, as Settings → Import/Export writes them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from converters.normalize import DROPPED, normalize_article
from converters.records import Converted, IgnoredItem, Mistake, SourceArticle, SourceError, SourceOptions
from converters.site_urls import complete_urls

STATUSES = {"published": "published", "scheduled": "published", "draft": "draft"}
REQUIRED_TABLES = "posts", "tags", "posts_tags"
REQUIRED_COLUMNS = "id", "title", "slug", "status", "published_at"
KEYS = "id", "post_id", "tag_id", "status"
SITE = re.compile("__GHOST_URL__/?")  # stands for the site's URL
# A part of a public post that Ghost shows to members alone.
MEMBERS_BLOCK = re.compile(
    r"<!--\s*kg-gated-block:begin(?![^<>]*nonMember:true)[^<>]*>.*?(?:<!--\s*kg-gated-block:end\s*-->|\Z)", re.DOTALL
)
# columns that hold the content in another form, or that only Ghost itself needs
INTERNAL = {
    *("amp", "author_id", "comment_id", "created_by", "email_recipient_filter", "email_segment", "id", "language"),
    *("lexical", "locale", "mobiledoc", "newsletter_id", "plaintext", "post_id", "published_by", "sort_order"),
    *("tiers", "type", "updated_by", "uuid", "show_title_and_feature_image", "email_count", "email_only"),
}
Row = dict[str, Any]


def read_ghost(source: str, tables: dict[str, Any], options: SourceOptions) -> Converted:
    """Yield the posts of an export. Raises SourceError if its tables are not as Ghost 3 and newer write them."""
    rows = {name: _read_table(tables, name) for name in (*REQUIRED_TABLES, "posts_meta", "posts_authors")}
    tags = _read_tags(rows["tags"], rows["posts_tags"])
    meta = {row.get("post_id"): row for row in rows["posts_meta"]}
    authors = {row.get("post_id") for row in rows["posts_authors"]}
    for number, post in enumerate(rows["posts"], start=1):
        where = f"{source}, post {post.get('id', number)} {post.get('title', '')!r}"
        missing = [name for name in REQUIRED_COLUMNS if name not in post or (name == "id" and post[name] is None)]
        is_email = any(row.get("email_only") for row in (post, meta.get(post.get("id"), {})))
        if post.get("type") == "page" or post.get("page"):
            yield IgnoredItem("Not imported", str(post.get("slug")), "pages", "page")
        elif post.get("status") == "sent" or is_email:
            yield IgnoredItem("Not imported", str(post.get("slug")), "posts that were only sent by email")
        elif missing:
            reason = f"The post lacks {', '.join(missing)}. Export all content of Ghost 3 or newer again."
            yield Mistake(where, reason)
        elif post["status"] not in STATUSES:
            yield Mistake(where, "Must be published, scheduled, draft or sent.", "status", post["status"])
        elif not isinstance(post.get("html"), str) and (post.get("html") or post["status"] != "draft"):
            yield Mistake(where, "The export has no HTML of this post. Export it from Ghost itself, not by its API.")
        else:
            has_author = post["id"] in authors
            yield _convert(where, dict(post), dict(meta.get(post["id"], {})), tags[post["id"]], has_author, options)


def _read_table(tables: dict[str, Any], name: str) -> list[Row]:
    """Return the rows of a table. Raises SourceError if a required one is missing, or if they are not rows."""
    rows = tables.get(name, None if name in REQUIRED_TABLES else [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SourceError(
            f"Must be an export of Ghost 3 or newer: its table {name} is missing or has no rows of columns."
        )
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


def _convert(
    where: str, post: Row, meta: Row, tags: list[str], has_author: bool, options: SourceOptions
) -> SourceArticle:
    """Return a post as an article. What it uses is taken out of the post and its `meta`."""
    base, visibility, html = f"{options.site.rstrip('/')}/", post.pop("visibility", "public"), post.pop("html")
    public = MEMBERS_BLOCK.sub("", html or "")
    excerpt, status = post.get("custom_excerpt"), STATUSES[post.pop("status")]
    published_at = _utc(post.pop("published_at"))
    visible_tags = [tag for tag in tags if not tag.startswith("#")]
    fields = {
        "id": str(post.pop("id")),
        "title": post.pop("title"),
        "slug": post.pop("slug"),
        "status": status if visibility == "public" and published_at else "draft",
        "published_at": published_at,
        "created_at": _utc(post.pop("created_at", None)),
        "updated_at": _utc(post.pop("updated_at", None)),
        "category": visible_tags[:1],
        "keywords": visible_tags,
        "bannerUrl": SITE.sub(lambda _: base, str(post.pop("feature_image", None) or "")),
        "metaTitle": meta.pop("meta_title", None) or post.pop("meta_title", None),
        "metaDesc": meta.pop("meta_description", None) or post.pop("meta_description", None) or excerpt,
    }
    if fields["metaDesc"] == excerpt:
        post.pop("custom_excerpt", None)
    article = normalize_article(where, fields, options)
    article.fields["contentHtml"] = complete_urls(article, SITE.sub(lambda _: base, public), options.site)
    article.has_own_id = True
    article.old_urls = [f"{base}{article.fields['slug']}/"] if article.fields.get("slug") else []
    _note_content(article, html, visibility, options.site)
    _drop_rest(article, {**post, "author": has_author}, meta)
    if status == "published" and not published_at:
        article.note("Drafts, because they have no date")
    for name in tags:
        if name.startswith("#"):
            article.drop(DROPPED, f"tag {name}")
    if public != (html or ""):
        article.note("Parts for members were removed")
    return article


def _note_content(article: SourceArticle, html: str | None, visibility: str, site: str) -> None:
    """Note what readers see differently."""
    if html is None:
        article.note("No HTML in the export: drafts, which are empty here")
    if visibility != "public":
        article.note("Drafts, because they are for members", "" if visibility in ("members", "paid") else visibility)
    if not site and SITE.search(html or ""):
        article.note("Links and pictures that lack your site. Name it with --site or SITE_URL")


def _drop_rest(article: SourceArticle, *rows: Row) -> None:
    """Record as dropped what remains of a post with a value."""
    for row in rows:
        for name, value in row.items():
            if name not in INTERNAL and value not in (None, "", 0, False, [], {}, "none"):
                article.drop(DROPPED, name)


def _utc(time: Any) -> str:
    """Return a time with its zone, which exports of Ghost on SQLite lack."""
    text = str(time or "")
    return f"{text}Z" if re.fullmatch(r"\d{4}-\d\d-\d\d[T ][\d:.]+", text) else text
