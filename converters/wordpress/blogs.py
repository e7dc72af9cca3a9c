"""What the files of a blog contain: its posts, and the pictures and authors to which they refer."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from content.html import decode_references
from content.urls import split_page
from converters.article_urls import is_file_url
from converters.slugs import slug_from_title
from converters.source_articles import SourceError
from converters.wordpress.wxr import NO_EXPORT, Item, child_texts, local_name, parse_item, read_elements

INTERNAL_TYPES = ("attachment", "nav_menu_item", "custom_css", "customize_changeset", "oembed_cache", "user_request")

HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass
class Blog:
    """A blog, from its site or from all files of its export."""

    url: str = ""
    title: str = ""
    posts: list[tuple[str, Item]] = field(default_factory=list)  # of the type to import, with their files
    other_types: Counter[str] = field(default_factory=Counter)  # how many items of each type are not imported
    attachments: dict[str, str] = field(default_factory=dict)  # URLs of files by number
    file_hosts: set[str] = field(default_factory=set)  # of attachments
    authors: dict[str, str] = field(default_factory=dict)  # display names by login

    @property
    def name(self) -> str:
        """The blog's URL without the scheme, "www." and the final slash."""
        return re.sub(r"^(?:https?:)?//(?:www\.)?", "", self.url.lower()).strip("/")

    @property
    def source(self) -> str:
        """The source of its articles' origins."""
        return f"wordpress:{self.name}" if self.name else "wordpress"

    @cached_property
    def slugs(self) -> Counter[str]:
        """How many of its posts have each slug, or would get it from their title."""
        return Counter(post_slug(item) for _, item in self.posts)

    @cached_property
    def switches(self) -> set[str]:
        """The keys of custom fields that are 1 or 0 in all posts, which is how WordPress stores true and false."""
        values: dict[str, set[str]] = defaultdict(set)
        for _, item in self.posts:
            for key, value in item.meta.items():
                values[key].add(value)
        return {key for key, found in values.items() if found <= {"0", "1", ""}}

    def add(self, other: "Blog") -> None:
        """Add the contents of another file of the same blog."""
        self.posts += other.posts
        self.other_types += other.other_types
        self.attachments |= other.attachments
        self.file_hosts |= other.file_hosts
        self.authors |= other.authors


def read_blog(path: str, post_type: str) -> Blog:
    """Return what a file of a blog's export contains. Raises SourceError or OSError if it cannot be read completely."""
    blog = Blog()
    texts: dict[str, str] = {}
    for element in read_elements(path):
        name = local_name(element.tag)
        if name == "item":
            _add_item(blog, path, parse_item(element), post_type)
        elif name == "author":
            author = child_texts(element)
            blog.authors[author.get("author_login", "")] = decode_references(author.get("author_display_name", ""))
        else:
            texts.setdefault(name, (element.text or "").strip())
    if not texts.keys() & {"base_blog_url", "wxr_version"}:
        raise SourceError(NO_EXPORT)
    blog.url = texts.get("base_blog_url") or texts.get("link", "")
    blog.title = decode_references(texts.get("title", ""))
    return blog


def post_slug(item: Item) -> str:
    """Return the slug of a post, otherwise one made from its title."""
    return unquote(item.texts.get("post_name", "")) or slug_from_title(plain_title(item.texts.get("title", "")))


def plain_title(html: str) -> str:
    """Return the text of a title, which is HTML."""
    return " ".join(decode_references(HTML_TAG.sub("", html)).split())


def _add_item(blog: Blog, path: str, item: Item, post_type: str) -> None:
    """Add an item to a blog."""
    item_type = item.texts.get("post_type", "")
    if item_type == post_type:
        blog.posts.append((path, item))
    elif not is_internal_type(item_type):
        blog.other_types[item_type] += 1
    if item_type == "attachment":
        url = item.texts.get("attachment_url") or item.texts.get("guid", "")
        blog.attachments[item.texts.get("post_id", "")] = url
        if is_file_url(url):  # others are pages, such as a video's
            blog.file_hosts.add(split_page(url)[0])


def is_internal_type(post_type: str) -> bool:
    """Return whether WordPress uses a type of posts itself, such as for menus and templates."""
    return post_type in INTERNAL_TYPES or post_type.startswith("wp_")
