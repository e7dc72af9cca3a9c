"""Metadata of WordPress SEO plugins: Yoast, Rank Math, SEOPress, AIOSEO and The SEO Framework."""

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
# values that stand for a default
UNSET = {"", "0", "-", "default", "none", "off", "no", "null", "[]", "{}", "a:0:{}"}
# scores, counts and caches of the plugins
UNREPORTED = re.compile(
    r".*score|linkdex|estimated-reading-time-minutes|wordproof_timestamp|internal_links_processed|og_content_image|"
    r"analysis_data.*|is_cornerstone|post-image-source|.*(?:-id|_id|_width|_height)"
)
ROBOTS = re.compile(r'"(\w+)"')


def take_texts(meta: dict[str, str], words: dict[str, str]) -> dict[str, str]:
    """Remove a post's meta title and description from its metadata, and return them by field.

    Placeholders are replaced with `words`. A text with any other placeholder stays in `meta`.
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
    """Return the text of a meta key without placeholders, or "" if `words` lacks one of them."""
    placeholder = PLACEHOLDERS[key[0]]
    if any(name not in words for name in placeholder.findall(text)):
        return ""
    return " ".join(placeholder.sub(lambda name: words[name[1]], decode_references(text)).split())


def unused_settings(meta: dict[str, str]) -> Iterator[str]:
    """Yield the keys of a post's SEO settings, except defaults and the plugins' own data."""
    for key, value in meta.items():
        prefix = next((prefix for prefix in PREFIXES if key.startswith(prefix)), None)
        if prefix and not _is_default(key, value) and not UNREPORTED.fullmatch(key.removeprefix(prefix)):
            yield key


def _is_default(key: str, value: str) -> bool:
    """Return whether a setting has no effect. Robots are a number in Yoast, and a list in Rank Math."""
    if key == "rank_math_robots":
        return set(ROBOTS.findall(value)) <= {"index", "follow"}
    return value.strip().lower() in UNSET or (key, value) == ("_yoast_wpseo_meta-robots-noindex", "2")  # 2 is "index"
