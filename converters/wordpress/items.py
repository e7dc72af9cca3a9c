"""The items of WordPress exports: posts, pages, attachments and so on."""

from dataclasses import dataclass, field
from functools import lru_cache
from xml.etree.ElementTree import Element

from content.html import decode_references


@dataclass
class Item:
    """An item of an export. Converters remove what they use."""

    texts: dict[str, str] = field(default_factory=dict)  # by element
    meta: dict[str, str] = field(default_factory=dict)  # by key
    old_slugs: list[str] = field(default_factory=list)  # from which WordPress redirects
    terms: dict[str, list[str]] = field(default_factory=dict)  # names by taxonomy

    @property
    def kind(self) -> str:
        """Its type, such as "post"."""
        return self.texts.get("post_type", "")

    @property
    def status(self) -> str:
        """Its status, such as "publish"."""
        return self.texts.get("status", "")

    def take(self, name: str) -> str:
        """Remove the text of an element, and return it without surrounding whitespace ("" if missing)."""
        return self.texts.pop(name, "").strip()


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
            key = texts.get("meta_key", "")
            value = texts.get("meta_value", "")
            if key == "_wp_old_slug":
                item.old_slugs.append(value)
            else:
                item.meta[key] = item.meta.get(key) or value
        elif name == "comment":
            item.texts[name] = "yes"
        else:
            item.texts[name] = item.texts.get(name) or child.text or ""
    # Old exports repeat each category and tag, first without its taxonomy, and call tags "tag".
    without_taxonomy = item.terms.pop("", None)
    if without_taxonomy and not item.terms:
        item.terms["category"] = without_taxonomy
    return item


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
