"""What SEO plugins of WordPress store with a post: Yoast, Rank Math, SEOPress, AIOSEO and The SEO Framework."""

import re
from collections.abc import Iterator

from content.html import decode_references

PREFIXES = ("_yoast_wpseo_", "rank_math_", "_seopress_", "_aioseo_", "_aioseop_", "_genesis_")
# The meta keys of each field, by precedence
KEYS = {
    "metaTitle": ("_yoast_wpseo_title", "rank_math_title"),
    "metaDesc": ("_yoast_wpseo_metadesc", "rank_math_description"),
}
PRIMARY_CATEGORIES = "_yoast_wpseo_primary_category", "rank_math_primary_category"
# %%title%% in Yoast (_), %title% and %date(Y)% in Rank Math (r)
PLACEHOLDERS = {"_": re.compile(r"%%([\w-]+)%%"), "r": re.compile(r"%([a-z_]+)(?:\([^)%]*\))?%")}
# Names to report for the settings that matter most
NAMES = {
    "meta-robots-noindex": "noindex",
    "robots_index": "noindex",
    "meta-robots-nofollow": "nofollow",
    "robots_follow": "nofollow",
    "robots_canonical": "canonical",
    "canonical_url": "canonical",
    "canonical_uri": "canonical",
    "custom_link": "canonical",
    "metadesc": "description",
    "titles_title": "title",
    "titles_desc": "description",
}
DEFAULTS = {"", "0", "-", "default", "none", "off", "no", "null", "[]", "{}", "a:0:{}"}
# counts and caches of the plugins
INTERNAL = re.compile(
    r"content_score|linkdex|inclusive_language_score|estimated-reading-time-minutes|wordproof_timestamp|"
    r".*score|internal_links_processed|analytic_object_id|og_content_image|analysis_data.*|is_cornerstone|"
    r"post-image-(?:id|source)|.*(?:-id|_id|_width|_height)"
)
ROBOTS = re.compile(r'"(\w+)"')


def take_texts(meta: dict[str, str], words: dict[str, str]) -> dict[str, str]:
    """Take a post's meta title and description out of its metadata, by field. Placeholders are replaced by `words`.

    A text with any other placeholder stays in `meta`.
    """
    texts = {}
    for field, keys in KEYS.items():
        for key in keys:
            text = _fill_placeholders(key, meta.get(key, ""), words)
            if text and field not in texts:
                texts[field] = text
                del meta[key]
    return texts


def _fill_placeholders(key: str, text: str, words: dict[str, str]) -> str:
    """Return the text of a meta key without placeholders, or "" if it has another one than `words`."""
    placeholder = PLACEHOLDERS[key[0]]
    if any(name not in words for name in placeholder.findall(text)):
        return ""
    return " ".join(placeholder.sub(lambda name: words[name[1]], decode_references(text)).split())


def unused_settings(meta: dict[str, str]) -> Iterator[str]:
    """Yield the names of a post's SEO settings, except defaults and the plugins' own data."""
    for key, value in meta.items():
        prefix = next((prefix for prefix in PREFIXES if key.startswith(prefix)), None)
        if not prefix or value.strip().lower() in DEFAULTS:
            continue
        name = key.removeprefix(prefix)
        if name == "robots":  # a list of Rank Math
            yield from (word for word in ROBOTS.findall(value) if word not in ("index", "follow"))
        elif not INTERNAL.fullmatch(name) and (name, value) != ("meta-robots-noindex", "2"):  # 2 is "index"
            yield NAMES.get(name, name.replace("_", " ").replace("-", " "))
