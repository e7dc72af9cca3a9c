"""Convert WordPress posts to articles, and report the data that is not used."""

import re
from typing import Any
from urllib.parse import unquote

from content.html import decode_references, readable_text
from converters import note_kinds
from converters.article_urls import ArticleUrls, old_site
from converters.articles import Origin, SourceArticle, SourceError, SourceOptions, Subject
from converters.claims import set_claim
from converters.slugs import slug_from_title
from converters.values import normalize_values, set_slug
from converters.wordpress.blogs import EXPORT_ALL, Blog
from converters.wordpress.content import set_content
from converters.wordpress.items import Item
from converters.wordpress.seo import PRIMARY_CATEGORY_KEYS, SEO_PREFIXES, take_seo_texts

PUBLIC_STATUSES = ("publish", "future")
NO_TITLE = "(no title)"
NO_NUMBER = "Must be the post's number, by which later imports find it again. Export it again."
MAX_ID_LENGTH = 64  # characters
POST_NUMBER = re.compile("[0-9]{1,20}")
HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
ELEMENT_BY_FIELD = {  # by field
    "id": "post_id",
    "publishedAt": "post_date",
    "updatedAt": "post_modified",
    "slug": "post_name",
    "bannerUrl": "_thumbnail_id",
    "contentHtml": "content",
}
# Who may read a post, from Jetpack's newsletter and the plugin Members
ACCESS_KEYS = ("_jetpack_newsletter_access", "_members_access_role")
# Custom fields of WordPress itself, and used ones
UNREPORTED_META = (
    *("_edit_last", "_edit_lock", "_encloseme", "_oembed_", "_pingme", "_thumbnail_id", "_wp_desired_post_slug"),
    *("_wp_old_date", "_wp_page_template", "_wp_trash_meta_", *ACCESS_KEYS, *SEO_PREFIXES),
)
# Elements that are used, repeat others, or concern only the old site
UNREPORTED_ELEMENTS = {
    *("attachment_url", "comment", "comment_status", "description", "excerpt", "guid", "is_sticky", "menu_order"),
    *("ping_status", "post_date", "post_date_gmt", "post_modified", "post_modified_gmt", "post_parent"),
    *("post_password", "post_type", "pubDate", "status"),
}


def convert_post(where: str, item: Item, blog: Blog, options: SourceOptions) -> SourceArticle:
    """Convert a post, removing from the item whatever the article uses."""
    post_id = item.take("post_id")
    article = SourceArticle(where, {}, dict(ELEMENT_BY_FIELD), origin=post_origin(blog, post_id, options))
    article.old_urls = _take_old_urls(item)
    article.fields = _take_fields(item, blog, post_id)
    normalize_values(article, options)
    if not POST_NUMBER.fullmatch(post_id):
        article.reject("id", NO_NUMBER, post_id)
    set_slug(article)
    try:
        set_content(article, item, blog, post_id)
    except SourceError as error:
        article.reject("contentHtml", str(error))
        return article
    urls = ArticleUrls(article, old_site(options, blog.url, blog.file_hosts))
    urls.change()
    article.pages.append(urls.site.page(f"{blog.url}/?p={post_id}"))
    _set_claim(article, item)
    _report_rest(article, item)
    return article


def post_origin(blog: Blog, post_id: str, options: SourceOptions) -> Origin:
    """Return the origin of the post with this number."""
    source = f"wordpress:{blog.name}" if blog.name else "wordpress"
    return Origin(options.source or source, post_id)


def article_id(blog: Blog, post_id: str) -> str:
    """Return the id of a new article for the post with this number, or "" if that would be too long."""
    id = f"wordpress-{blog.name.replace('/', '-')}-{post_id}"
    return id if blog.name and post_id and len(id) <= MAX_ID_LENGTH else ""


def plain_title(html: str) -> str:
    """Return the text of a title, which is HTML."""
    return " ".join(decode_references(HTML_TAG.sub("", html)).split())


def _take_fields(item: Item, blog: Blog, post_id: str) -> dict[str, Any]:
    """Return an article's fields except its content. Their values still have to be normalized."""
    title = plain_title(item.take("title")) or NO_TITLE
    texts = take_seo_texts(item.meta, title, blog.title)
    if "metaDesc" not in texts:
        texts["metaDesc"] = " ".join(readable_text(item.take("excerpt")).split())
    # A draft's local date is that of its last change.
    local_date = _date(item, "post_date") if item.status in PUBLIC_STATUSES else ""
    login = item.take("creator")
    banner = blog.attachments.get(item.meta.get("_thumbnail_id", ""))
    return texts | {
        "id": article_id(blog, post_id),
        "title": title,
        "slug": unquote(item.take("post_name")) or slug_from_title(title, post_id),
        "publishedAt": _date(item, "post_date_gmt", "Z") or local_date,
        "updatedAt": _date(item, "post_modified_gmt", "Z"),
        "category": _take_categories(item, blog),
        "keywords": item.terms.pop("post_tag", []) + item.terms.pop("tag", []),
        "authors": blog.authors.get(login, login),
        "bannerUrl": banner.url if banner else "",
    }


def _take_old_urls(item: Item) -> list[str]:
    """Return the link and, if it ends with the slug, the links with the slugs that the post had before."""
    link = item.take("link")
    links = [link] if link else []
    slug = item.texts.get("post_name", "").strip()
    if slug and item.old_slugs:  # few posts have any
        ends_with_slug = re.fullmatch(rf"(.*/){re.escape(slug)}(/|\.\w+)?", link)  # https://old.example/menu/
        if ends_with_slug:
            links += [f"{ends_with_slug[1]}{old}{ends_with_slug[2] or ''}" for old in item.old_slugs]
    return links


def _take_categories(item: Item, blog: Blog) -> list[str]:
    """Return the names of the categories. The primary one that an SEO plugin has stored comes first."""
    names = item.terms.pop("category", [])
    for key in PRIMARY_CATEGORY_KEYS:
        primary = blog.categories.get(item.meta.get(key, ""))
        if primary and (primary in names or not names):
            del item.meta[key]
            return list(dict.fromkeys([primary, *names]))
    return names


def _date(item: Item, name: str, zone: str = "") -> str:
    """Return a date, or "" for 0000-00-00 00:00:00, which marks posts that were never published."""
    date = item.texts.get(name, "").strip()
    return f"{date}{zone}" if date > "0001" else ""


def _set_claim(article: SourceArticle, item: Item) -> None:
    """Set what WordPress says about a post: it is published if it has that status and everyone may read it."""
    is_public = item.status in PUBLIC_STATUSES
    has_password = bool(item.texts.get("post_password"))
    values = [item.meta.get(key, "").strip() for key in ACCESS_KEYS]
    readers = [value for value in values if value not in ("", "everybody")]
    if item.status == "private" or (is_public and has_password):
        article.note("Withheld because they are private or password-protected", subject=Subject.ACCESS)
    elif readers:
        article.note(note_kinds.RESTRICTED, readers[0], subject=Subject.ACCESS)
    set_claim(article, is_published=is_public and not has_password and not readers)


def _report_rest(article: SourceArticle, item: Item) -> None:
    """Record the data of the item that the article does not use."""
    if item.meta.get("_thumbnail_id", "0") > "0" and "bannerUrl" not in article.fields:
        article.note("Featured images that the export lacks", advice=EXPORT_ALL)
    for name, text in item.texts.items():
        if name not in UNREPORTED_ELEMENTS:
            article.note_unknown(name, text)
    for key, value in item.meta.items():
        if not key.startswith(UNREPORTED_META):
            article.note_unknown(key, value)
