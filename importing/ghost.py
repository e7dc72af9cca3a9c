"""Ghost exports, as Settings → Import/Export writes them."""

from collections import defaultdict
from typing import Any

from importing.errors import ImportErrors, Records, SourceError, SourceLocation, SourceOptions
from importing.fitting import fit_article

STATUSES = {"published": "published", "scheduled": "published", "draft": "draft"}
NO_HTML = "The export has no HTML of this post. Export it from Ghost itself, not by its API."
SITE = "__GHOST_URL__"  # in the place of the site's URL


def read_posts(source: str, tables: dict[str, Any], options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the posts of an export. Raises SourceError if a table is not as Ghost 3 and newer write it."""
    try:
        tags = _read_tags(tables)
        meta = {row["post_id"]: row for row in tables.get("posts_meta", ())}
        for post in tables["posts"]:
            location = SourceLocation(source, f"post {post['id']} {post['title']!r}")
            kind = f"type {post['type']}" if post["type"] != "post" else f"status {post['status']}"
            if kind.removeprefix("status ") not in STATUSES:
                errors.note(f"Left out: posts of the {kind}", str(post["slug"]))
            elif post.get("html") is None and post["status"] != "draft":
                errors.add(location, NO_HTML)
            else:
                fields = _read_post(post, meta.get(post["id"], {}), tags[post["id"]])
                notes = [] if post["visibility"] == "public" else ["Drafts, because they are for members"]
                yield fit_article(location._replace(notes=notes), fields, options)
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


def _read_post(post: dict[str, Any], meta: dict[str, Any], tags: list[str]) -> dict[str, Any]:
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
        "bannerUrl": (post["feature_image"] or "").replace(SITE, ""),
        "metaTitle": meta.get("meta_title"),
        "metaDesc": meta.get("meta_description") or post["custom_excerpt"],
        "contentHtml": (post["html"] or "").replace(SITE, ""),
    } | {name: post.get(name) for name in ("canonical_url", "codeinjection_head", "codeinjection_foot")}


def _utc(time: str | None) -> str:
    """Return a time with its zone, which exports of Ghost on SQLite lack."""
    return f"{time.removesuffix('Z')}Z" if time else ""
