"""Convert the posts of WordPress exports, and what those have in common with the posts of sites."""

import re
from typing import Any

from content.html import decode_references, readable_text
from converters.article_urls import ArticleUrls, old_site
from converters.claims import RESTRICTED, note_unknown_status, set_claim
from converters.leftover_markup import VISIBLE, note_leftover_markup
from converters.source_articles import (
    LEFT_OUT,
    UNKNOWN_FIELDS,
    Origin,
    SourceArticle,
    SourceOptions,
    Subject,
    locate_post,
)
from converters.values import normalize_values, set_slug
from converters.wordpress.blogs import Blog, plain_title, post_slug
from converters.wordpress.post_html import FROM_SITE, post_html
from converters.wordpress.wxr import Item

PUBLIC_STATUSES = ("publish", "future")
NO_TITLE = "(no title)"
NO_NUMBER = "Must be the post's number, by which later imports find it again. Export it again."
POST_NUMBER = re.compile("[0-9]{1,20}")
ELEMENT_BY_FIELD = {  # by field
    "id": "post_id",
    "publishedAt": "post_date",
    "updatedAt": "post_modified",
    "slug": "post_name",
    "bannerUrl": "_thumbnail_id",
    "contentHtml": "content",
}
SEO_KEYS = {  # by field, of Yoast and of Rank Math
    "metaTitle": ("_yoast_wpseo_title", "rank_math_title"),
    "metaDesc": ("_yoast_wpseo_metadesc", "rank_math_description"),
}
# %%title%% in Yoast, %title% and %date(Y)% in Rank Math
PLACEHOLDER = re.compile(r"%%([\w-]+)%%|%([a-z_]+)(?:\([^)%]*\))?%")
# Who may read a post, from Jetpack's newsletter and the plugin Members
ACCESS_KEYS = ("_jetpack_newsletter_access", "_members_access_role")
# Bookkeeping of WordPress and of plugins, and custom fields that have been used
USED_META = (
    *("_edit_", "_encloseme", "_jetpack_", "_oembed_", "_pingme", "_thumbnail_id", "_wp_", "_wpas_", "aktt_"),
    *("_yoast_wpseo_", "rank_math_", *ACCESS_KEYS),
)


def convert_post(source: str, item: Item, blog: Blog, options: SourceOptions) -> SourceArticle:
    """Convert a post of an export. One in the trash or without a title and content has no fields."""
    number = item.texts.get("post_id", "")
    title = plain_title(item.texts.get("title", ""))
    status = item.texts.get("status", "")
    is_valid = POST_NUMBER.fullmatch(number) is not None
    origin = Origin(options.source or blog.source, number if is_valid else "")
    article = SourceArticle(locate_post(source, number, title), {}, dict(ELEMENT_BY_FIELD), origin=origin)
    if not is_valid:
        article.reject("id", NO_NUMBER, number)
    is_blank = not title and not item.texts.get("content")
    if status == "trash" or (is_blank and status not in PUBLIC_STATUSES):
        article.is_without_text = True
        article.claim = "withheld"
        return article
    article.fields = _post_fields(item, blog, title, number)
    _set_seo_fields(article, item, title, blog.title)
    article.fields["contentHtml"] = post_html(article, item.texts.pop("content", ""), item.meta.pop("footnotes", ""))
    article.old_urls = _old_urls(item)
    note_unknown_status(article, status)
    is_due = status == "publish" or (status == "future" and article.fields["publishedAt"] != "")
    is_public = _check_access(article, item) and is_due
    complete_article(article, blog, options, is_published=is_public)
    article.notes = [note._replace(advice=FROM_SITE) if note.kind == VISIBLE else note for note in article.notes]
    _note_rest(article, item, blog)
    return article


def complete_article(article: SourceArticle, blog: Blog, options: SourceOptions, *, is_published: bool) -> None:
    """Normalize the fields of an article, which has those of its post and its old URLs, and set its claim."""
    number = article.origin.key if article.origin else ""
    normalize_values(article, options)
    set_slug(article)
    urls = ArticleUrls(article, old_site(options, blog.url, blog.file_hosts))
    urls.change()
    article.pages.append(urls.site.page(f"{blog.url}/?p={number}"))
    set_claim(article, is_published=is_published)
    note_leftover_markup(article, drop_tags=options.drop_tags)


def _post_fields(item: Item, blog: Blog, title: str, number: str) -> dict[str, Any]:
    """Return the fields of a post except its content and those of SEO plugins. They have to be normalized."""
    texts = item.texts
    # A draft's local date is that of its last change.
    local_date = _date(item, "post_date") if texts.get("status") in PUBLIC_STATUSES else ""
    login = texts.get("creator", "")
    slug = post_slug(item)
    is_usable = texts.get("post_name") or blog.slugs[slug] == 1
    return {
        "title": title or NO_TITLE,
        "slug": slug if slug and is_usable else number,
        "publishedAt": _date(item, "post_date_gmt", "Z") or local_date,
        "updatedAt": _date(item, "post_modified_gmt", "Z"),
        "category": item.terms.get("category", []),
        "keywords": item.terms.get("post_tag", []),
        "authors": [blog.authors.get(login) or login],
        "bannerUrl": blog.attachments.get(item.meta.get("_thumbnail_id", ""), ""),
        "metaDesc": " ".join(readable_text(texts.get("excerpt", "")).split()),
    }


def _date(item: Item, name: str, zone: str = "") -> str:
    """Return a date, or "" for 0000-00-00 00:00:00, which marks posts that were never published."""
    date = item.texts.get(name, "")
    return f"{date}{zone}" if date > "0001" else ""


def _set_seo_fields(article: SourceArticle, item: Item, title: str, site_name: str) -> None:
    """Set the meta title and description. Texts with placeholders that only the plugin can fill in are left out."""
    words = {"title": title, "sitename": site_name, "sep": "-", "page": ""}
    for field, keys in SEO_KEYS.items():
        for text in filter(None, map(item.meta.get, keys)):
            try:
                filled = PLACEHOLDER.sub(lambda name: words[name[1] or name[2]], decode_references(text))
            except KeyError:
                article.note(LEFT_OUT, text)
                continue
            article.fields[field] = " ".join(filled.split())
            break


def _old_urls(item: Item) -> list[str]:
    """Return the link and, if it ends with the slug, the links that the post had before."""
    link = item.texts.get("link", "")
    links = [link] if link else []
    slug = item.texts.get("post_name", "")
    if slug and item.old_slugs:  # few posts have any
        ends_with_slug = re.fullmatch(rf"(.*/){re.escape(slug)}(/|\.\w+)?", link)  # https://old.example/menu/
        if ends_with_slug:
            links += [f"{ends_with_slug[1]}{old}{ends_with_slug[2] or ''}" for old in item.old_slugs]
    return links


def _check_access(article: SourceArticle, item: Item) -> bool:
    """Return whether everyone may read a post once it is published, and note if not."""
    values = [item.meta.get(key, "") for key in ACCESS_KEYS]
    readers = [value for value in values if value not in ("", "everybody")]
    if item.texts.get("status") == "private" or item.texts.get("post_password"):
        article.note("Withheld because they are private or password-protected", subject=Subject.ACCESS)
        return False
    if readers:
        article.note(RESTRICTED, readers[0], subject=Subject.ACCESS)
    return not readers


def _note_rest(article: SourceArticle, item: Item, blog: Blog) -> None:
    """Note the featured image if it is missing, and the custom fields that may have hidden the post."""
    if item.meta.get("_thumbnail_id", "0") > "0" and "bannerUrl" not in article.fields:
        article.note("Featured images that are missing from the export", advice='Export "All content".')
    for key, value in item.meta.items():
        if key.startswith(USED_META):
            continue
        if value and key in blog.switches:
            article.note(UNKNOWN_FIELDS, f"{key}: {value}", subject=Subject.ACCESS)
        else:
            article.note_unknown(key, value)
