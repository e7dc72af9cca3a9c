"""Attachments, categories, authors and synced patterns of a blog, to which its posts refer."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from xml.etree.ElementTree import Element

from content.html import decode_references
from content.urls import split_page
from converters.articles import SourceError
from converters.media_suffixes import FILE_SUFFIXES, has_suffix
from converters.wordpress.items import child_texts, local_name, parse_item
from converters.wordpress.xml_reader import read_elements

EXPORT_ALL = 'Export "All content" from WordPress, and import all files in one command.'


class Attachment(NamedTuple):
    """A file in the media library."""

    url: str
    parent: str  # the id of the post to which it was uploaded
    order: tuple[int, int]  # within a gallery: menu order, id
    alt: str  # alternative text
    caption: str  # HTML


@dataclass
class SyncedPattern:
    """A synced pattern, also called a reusable block."""

    title: str
    content: str
    is_public: bool
    is_used: bool = False  # in a post


@dataclass
class Blog:
    """A blog, from all of its files."""

    url: str = ""
    title: str = ""
    attachments: dict[str, Attachment] = field(default_factory=dict)  # by id
    file_hosts: set[str] = field(default_factory=set)  # of attachments
    categories: dict[str, str] = field(default_factory=dict)  # names by id
    authors: dict[str, str] = field(default_factory=dict)  # display names by login
    patterns: dict[str, SyncedPattern] = field(default_factory=dict)  # by id

    @property
    def name(self) -> str:
        """The blog's URL without the scheme, "www." and the final slash."""
        return re.sub(r"^(?:https?:)?//(?:www\.)?", "", self.url.lower()).strip("/")

    @cached_property
    def attachments_by_post(self) -> dict[str, list[Attachment]]:
        """The attachments of each post, in their order. All files must have been added."""
        found: dict[str, list[Attachment]] = defaultdict(list)
        for attachment in sorted(self.attachments.values(), key=lambda attachment: attachment.order):
            found[attachment.parent].append(attachment)
        return dict(found)

    def add(self, other: "Blog") -> None:
        """Add the contents of another file of the same blog."""
        self.attachments |= other.attachments
        self.file_hosts |= other.file_hosts
        self.categories |= other.categories
        self.authors |= other.authors
        self.patterns |= other.patterns


def index_file(source: str, blogs: dict[str, Blog]) -> Blog:
    """Add the attachments, categories and patterns of a file to its blog, and return the blog.

    Raises SourceError or OSError if the file cannot be read to its end.
    """
    found = Blog()
    texts: dict[str, str] = {}
    for element in read_elements(source):
        name = local_name(element.tag)
        if name == "item":
            _index_item(element, found)
        elif name == "category":
            _index_name(element, found.categories, "term_id", "cat_name")
        elif name == "author":
            _index_name(element, found.authors, "author_login", "author_display_name")
        else:
            texts.setdefault(name, (element.text or "").strip())
    if not texts.keys() & {"base_blog_url", "wxr_version"}:
        raise SourceError("Must be a WordPress export (WXR), from Tools → Export.")
    found.url = texts.get("base_blog_url") or texts.get("link", "")
    found.title = decode_references(texts.get("title", ""))
    blog = blogs.setdefault(found.name, found)
    blog.add(found)
    return blog


def _index_name(element: Element, names: dict[str, str], key: str, name: str) -> None:
    """Add the name of a category or an author."""
    texts = child_texts(element)
    if texts.get(key) and texts.get(name):
        names[texts[key]] = decode_references(texts[name])


def _index_item(element: Element, blog: Blog) -> None:
    """Add an attachment or a synced pattern to a blog."""
    texts = child_texts(element)
    id = texts.get("post_id")
    if id and texts.get("post_type") == "attachment":
        item = parse_item(element)
        blog.attachments[id] = Attachment(
            url=texts.get("attachment_url") or texts.get("guid", ""),
            parent=texts.get("post_parent", ""),
            order=(_number(texts.get("menu_order", "")), _number(id)),
            alt=item.meta.get("_wp_attachment_image_alt", "").strip(),
            caption=texts.get("excerpt", "").strip(),
        )
        if has_suffix(blog.attachments[id].url, FILE_SUFFIXES):  # others are pages, such as a video's
            blog.file_hosts.add(split_page(blog.attachments[id].url)[0])
    elif id and texts.get("post_type") == "wp_block":
        is_public = texts.get("status") == "publish" and not texts.get("post_password")
        blog.patterns[id] = SyncedPattern(texts.get("title", ""), texts.get("content", ""), is_public)


def _number(text: str) -> int:
    """Return a short number, or 0."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else 0
