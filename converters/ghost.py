"""Ghost exports, as Settings → Import/Export writes them."""

import re
from collections import defaultdict
from typing import Any

from converters.normalize import normalize_article
from converters.records import Converted, IgnoredItem, Mistake, SourceError, SourceOptions

STATUSES = {"published": "published", "scheduled": "published", "draft": "draft"}
SITE = re.compile("__GHOST_URL__/?")  # The export has it in the place of the site's URL.
# A part of a public post that Ghost shows to members alone.
MEMBERS_BLOCK = re.compile(
    r"<!--\s*kg-gated-block:begin(?![^<>]*nonMember:true)[^<>]*>.*?(?:<!--\s*kg-gated-block:end\s*-->|\Z)", re.DOTALL
)
LOST = "canonical_url", "codeinjection_head", "codeinjection_foot"
LOST_META = "feature_image_alt", "feature_image_caption"


def read_ghost(source: str, tables: dict[str, Any], options: SourceOptions) -> Converted:
    """Yield the posts of an export. Raises SourceError if a table is not as Ghost 3 and newer write it."""
    try:
        tags = _read_tags(tables)
        meta = {row["post_id"]: row for row in tables.get("posts_meta", ())}
        authors = {row["post_id"] for row in tables.get("posts_authors", ())}
        for post in tables["posts"]:
            where = f"{source}, post {post['id']} {post['title']!r}"
            if post["type"] != "post" or post["status"] not in STATUSES:
                yield IgnoredItem("Left out: pages, and posts that were only sent by email", str(post["slug"]))
            elif post.get("html") is None and post["status"] != "draft":
                yield Mistake(
                    where, "The export has no HTML of this post. Export it from Ghost itself, not by its API."
                )
            else:
                fields = _read_post(post, meta.get(post["id"], {}), tags[post["id"]], options.site)
                article = normalize_article(where, fields | {"author": post["id"] in authors or None}, options)
                if post["html"] is None:
                    article.note("No HTML in the export: drafts, which are empty here")
                if post["visibility"] != "public":
                    article.note("Drafts, because they are for members")
                if not options.site and SITE.search(post["html"] or ""):
                    article.note("Links and pictures that lack your site. Name it with --site or SITE_URL")
                yield article
    except (AttributeError, LookupError, TypeError) as error:
        raise SourceError(f"Must be an export of Ghost 3 or newer ({error!r}). Export it again.") from error


def _read_tags(tables: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of each post's tags, in their order, without internal ones."""
    names = {tag["id"]: tag["name"] for tag in tables["tags"] if not tag["name"].startswith("#")}
    tags = defaultdict(list)
    for link in sorted(tables["posts_tags"], key=lambda link: link["sort_order"]):
        if link["tag_id"] in names:
            tags[link["post_id"]].append(names[link["tag_id"]])
    return tags


def _read_post(post: dict[str, Any], meta: dict[str, Any], tags: list[str], site: str) -> dict[str, Any]:
    base, html = f"{site.rstrip('/')}/", post["html"] or ""
    public = MEMBERS_BLOCK.sub("", html)
    return {
        "id": str(post["id"]),
        "title": post["title"],
        "slug": post["slug"],
        "status": STATUSES[post["status"]] if post["visibility"] == "public" else "draft",
        "publishedAt": _utc(post["published_at"]),
        "createdAt": _utc(post["created_at"]),
        "updatedAt": _utc(post["updated_at"]),
        "category": tags[:1],
        "keywords": tags,
        "bannerUrl": SITE.sub(lambda _: base, post["feature_image"] or ""),
        "metaTitle": meta.get("meta_title"),
        "metaDesc": meta.get("meta_description") or post["custom_excerpt"],
        "contentHtml": SITE.sub(lambda _: base, public),
        # These are no fields of the form: each that has a value is reported as left out.
        "parts for members": public != html or None,
        **{name: post.get(name) for name in LOST},
        **{name: meta.get(name) for name in LOST_META},
    }


def _utc(time: str | None) -> str:
    """Return a time with its zone, which exports of Ghost on SQLite lack."""
    return f"{time.removesuffix('Z')}Z" if time else ""
