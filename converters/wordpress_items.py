"""The items of WordPress exports, and the images, categories and patterns that the posts of a blog refer to."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from xml.etree.ElementTree import Element

from content.html import decode_references
from converters.records import SourceError
from converters.wordpress_xml import read_elements

MAX_BLOG_LENGTH = 43  # characters; "wordpress-", a blog and a post's number of ten digits make an id of at most 64


@dataclass
class Item:
    """An item of an export, such as a post. Converters remove what they use."""

    texts: dict[str, str] = field(default_factory=dict)  # by element
    meta: dict[str, str] = field(default_factory=dict)  # by key
    terms: dict[str, list[str]] = field(default_factory=dict)  # names by taxonomy

    def take(self, name: str) -> str:
        """Remove the text of an element, and return it without surrounding whitespace ("" if missing)."""
        return self.texts.pop(name, "").strip()


@dataclass
class Pattern:
    """A synced pattern, also called a reusable block."""

    title: str
    content: str
    is_public: bool
    is_used: bool = False  # in a post


@dataclass
class Blog:
    """The images, categories and patterns of a blog, from all of its files."""

    url: str = ""
    title: str = ""
    images: dict[str, str] = field(default_factory=dict)  # URLs by id
    categories: dict[str, str] = field(default_factory=dict)  # names by id
    patterns: dict[str, Pattern] = field(default_factory=dict)  # by id

    @property
    def name(self) -> str:
        """The blog's URL as it appears in ids: without the scheme and "www.", shortened with a hash if it is long."""
        name = re.sub(r"^(?:https?:)?//(?:www\.)?", "", self.url.lower()).strip("/").replace("/", "-")
        if len(name) <= MAX_BLOG_LENGTH:
            return name
        digest = sha256(name.encode()).hexdigest()[:8]
        return f"{name[: MAX_BLOG_LENGTH - 9]}-{digest}"

    def add(self, other: "Blog") -> None:
        """Add the contents of another file of the same blog."""
        self.images |= other.images
        self.categories |= other.categories
        self.patterns |= other.patterns


def index_file(source: str, blogs: dict[str, Blog]) -> Blog:
    """Add a file's images, categories and patterns to its blog, and return the blog. Raises SourceError or OSError."""
    found, texts = Blog(), dict[str, str]()
    for element in read_elements(source):
        name = local_name(element.tag)
        if name == "item":
            _index_item(element, found)
        elif name == "category":
            _index_category(element, found)
        else:
            texts.setdefault(name, (element.text or "").strip())
    if not texts.keys() & {"base_blog_url", "wxr_version"}:
        raise SourceError("Must be a WordPress export (WXR), written by Tools → Export.")
    found.url = texts.get("base_blog_url") or texts.get("link", "")
    found.title = decode_references(texts.get("title", ""))
    blog = blogs.setdefault(found.name, found)
    blog.add(found)
    return blog


def _index_category(element: Element, blog: Blog) -> None:
    """Add a category to a blog."""
    texts = child_texts(element)
    if texts.get("term_id") and texts.get("cat_name"):
        blog.categories[texts["term_id"]] = decode_references(texts["cat_name"])


def _index_item(element: Element, blog: Blog) -> None:
    """Add an attachment or a synced pattern to a blog."""
    texts = child_texts(element)
    id, kind = texts.get("post_id"), texts.get("post_type")
    if id and kind == "attachment":
        blog.images[id] = texts.get("attachment_url") or texts.get("guid", "")
    elif id and kind == "wp_block":
        is_public = texts.get("status") == "publish" and not texts.get("post_password")
        blog.patterns[id] = Pattern(texts.get("title", ""), texts.get("content", ""), is_public)


def parse_item(element: Element) -> Item:
    """Return an item of an export."""
    item = Item()
    for child in element:
        name = local_name(child.tag)
        if name == "category":
            term = decode_references(child.text or "").strip()
            item.terms.setdefault(child.get("domain", ""), []).append(term)
        elif name == "postmeta":
            texts = child_texts(child)
            item.meta.setdefault(texts.get("meta_key", ""), texts.get("meta_value", ""))
        elif name == "comment":
            item.texts[name] = "yes"
        else:
            item.texts.setdefault(name, child.text or "")
    # Old exports repeat each category and tag, first without its taxonomy, and call tags "tag".
    unknown = item.terms.pop("", None)
    if unknown and not item.terms:
        item.terms["category"] = unknown
    return item


def described_term(element: Element) -> str:
    """Return the name of a category, tag or term that has a description or a parent, otherwise ""."""
    if local_name(element.tag) not in ("category", "tag", "term"):
        return ""
    texts = child_texts(element)
    has_details = any(text for name, text in texts.items() if name.endswith(("_description", "_parent")))
    names = (text for name, text in texts.items() if name.endswith("_name"))
    return next(names, "(no name)") if has_details else ""


def child_texts(element: Element) -> dict[str, str]:
    """Return the text of an element's children by name. If a name repeats, the first one wins."""
    texts: dict[str, str] = {}
    for child in element:
        texts.setdefault(local_name(child.tag), child.text or "")
    return texts


@lru_cache(256)
def local_name(tag: str) -> str:
    """Return a tag's name without its namespace: `post_id` for `wp:post_id`.

    content:encoded and excerpt:encoded are `content` and `excerpt`. Names in plugins' own namespaces keep a prefix.
    """
    namespace, _, name = tag.rpartition("}")
    vocabulary = namespace.rstrip("/").rpartition("/")[2]
    if name == "encoded":
        return vocabulary
    return name if not namespace or "/export/" in namespace or "purl.org" in namespace else f"{vocabulary}:{name}"
