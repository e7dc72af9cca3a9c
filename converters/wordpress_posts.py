"""Convert WordPress posts to articles, and report the data that is dropped."""

import re
from typing import Any
from urllib.parse import unquote

from content.html import decode_references, visible_words
from converters.normalize import OTHER_CATEGORIES, normalize_article
from converters.old_urls import add_old_urls
from converters.publication import check_published
from converters.records import RESTRICTED, Identity, Publication, SourceArticle, SourceOptions
from converters.site_urls import resolve_urls
from converters.slugs import slug_from_title
from converters.wordpress_blocks import EXPORT_ALL
from converters.wordpress_content import render
from converters.wordpress_items import Blog, Item
from converters.wordpress_seo import PREFIXES, PRIMARY_CATEGORIES, take_texts, unused_settings

STATUS_BY_SOURCE = {
    "publish": "published",
    "future": "published",
    "draft": "draft",
    "pending": "draft",
    "private": "draft",
}
NO_TITLE = "(no title)"
# Who may read a post, from Jetpack's newsletter and the plugin Members
READERS = "_jetpack_newsletter_access", "_members_access_role"
HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# Elements that are used, repeat others, or concern only the old site
UNREPORTED = {
    *("attachment_url", "comment_status", "description", "guid", "menu_order", "ping_status", "post_date"),
    *("post_date_gmt", "post_modified", "post_modified_gmt", "post_parent", "post_password", "post_type", "pubDate"),
    "status",
}
REPORTED_NAMES = {
    "comment": "comments",
    "creator": "author",
    "excerpt": "excerpts of posts that have a description",
    "is_sticky": "sticky",
}


def convert_post(where: str, item: Item, blog: Blog, options: SourceOptions) -> SourceArticle:
    """Convert a post, removing from the item whatever the article uses. Raises SourceError."""
    content = render(item.texts.pop("content", ""), blog.patterns, item.meta.get("footnotes", ""))
    if content.uses_footnotes:
        del item.meta["footnotes"]
    title, number, link = plain_title(item.take("title")) or NO_TITLE, item.take("post_id"), item.take("link")
    completing = options._replace(site=options.site or blog.url)
    article = normalize_article(where, _take_fields(item, blog, title, number), completing)
    # Not normalized: the title is already text here, and WordPress' content has no templates.
    article.fields |= {"title": title, "contentHtml": resolve_urls(article, content.html, completing.base)}
    # Every WordPress site numbers its posts from 1, and the ids of version 1.2.1 did not contain the blog.
    article.identity = Identity.SOURCE
    article.former_id = f"wordpress-{number}"
    add_old_urls(article, [link] if link else [], options)
    _note_differences(article, item)
    article.notes += content.notes
    _drop_rest(article, item)
    return article


def plain_title(html: str) -> str:
    """Return the text of a title, which is HTML."""
    return " ".join(decode_references(HTML_TAG.sub("", html)).split())


def _take_fields(item: Item, blog: Blog, title: str, number: str) -> dict[str, Any]:
    """Return an article's fields other than its content. They still have to be normalized."""
    status = STATUS_BY_SOURCE[item.texts["status"]]
    texts = take_texts(item.meta, {"title": title, "sep": "-", "sitename": blog.title, "page": ""})
    if "metaDesc" not in texts:
        texts["metaDesc"] = " ".join(visible_words(item.take("excerpt")))
    return texts | {
        "id": f"wordpress-{blog.name}-{number}" if blog.name and number else "",
        "slug": unquote(item.take("post_name")) or slug_from_title(title, number),
        "status": status,
        # A draft's local date is that of its last change.
        "publishedAt": _date(item, "post_date_gmt", "Z") or (_date(item, "post_date") if status == "published" else ""),
        "updatedAt": _date(item, "post_modified_gmt", "Z"),
        "category": _take_category(item, blog),
        "keywords": item.terms.pop("post_tag", []) + item.terms.pop("tag", []),
        "bannerUrl": blog.images.get(item.meta.get("_thumbnail_id", "")),
    }


def _take_category(item: Item, blog: Blog) -> str:
    """Return the name of the primary category that an SEO plugin has stored, or else of the first category."""
    names = item.terms.get("category", [])
    category = names[0] if names else ""
    for key in PRIMARY_CATEGORIES:
        primary = blog.categories.get(item.meta.get(key, ""))
        if primary in names or (primary and not names):
            del item.meta[key]
            category = primary
            break
    item.terms["category"] = [name for name in names if name != category]
    return category


def _date(item: Item, name: str, zone: str = "") -> str:
    """Return a date, or "" for 0000-00-00 00:00:00, which marks posts that were never published."""
    date = item.texts.get(name, "").strip()
    return f"{date}{zone}" if date > "0001" else ""


def _note_differences(article: SourceArticle, item: Item) -> None:
    """Make a post a draft if it must not be public, and note missing content."""
    is_published = article.publication is Publication.PUBLISHED
    if item.texts["status"] == "private" or (is_published and item.texts.get("post_password")):
        article.make_draft("Saved as drafts because they are private or password-protected")
    elif readers := _restricted_readers(item):
        article.make_draft(RESTRICTED, readers)
    check_published(article)
    if item.meta.get("_thumbnail_id", "0") > "0" and "bannerUrl" not in article.fields:
        article.note("Featured images that the export lacks", advice=EXPORT_ALL)


def _restricted_readers(item: Item) -> str:
    """Return the group of readers that a post was restricted to on the old site, or "" if everyone may read it."""
    values = (item.meta.get(key, "").strip() for key in READERS)
    return next((value[:50] for value in values if value.lower() not in ("", "everybody")), "")


def _drop_rest(article: SourceArticle, item: Item) -> None:
    """Record the data of the item that the article does not use."""
    for name, text in item.texts.items():
        if name not in UNREPORTED and text.strip() not in ("", "0"):
            article.drop("Dropped", REPORTED_NAMES.get(name, name))
    for name in item.terms.pop("category", []):
        article.drop(OTHER_CATEGORIES, name)
    for taxonomy in item.terms:
        article.drop("Other taxonomies were dropped", taxonomy)
    for key in unused_settings(item.meta):
        article.drop("SEO settings were dropped", key)
    for key, value in item.meta.items():
        if value.strip() and not key.startswith(("_", *PREFIXES)):
            article.drop("Custom fields were dropped", key)
