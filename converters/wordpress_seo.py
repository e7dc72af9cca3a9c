"""What WordPress' SEO plugins store with a post: Yoast, Rank Math, SEOPress, AIOSEO and The SEO Framework."""

import re
from collections.abc import Iterator

from content.html import decode_references

PREFIXES = ("_yoast_wpseo_", "rank_math_", "_seopress_", "_aioseo_", "_aioseop_", "_genesis_")
# Titles, descriptions and primary categories are used: by field, the meta keys by precedence.
TITLES = "_yoast_wpseo_title", "rank_math_title"
DESCRIPTIONS = "_yoast_wpseo_metadesc", "rank_math_description"
PRIMARY_CATEGORIES = "_yoast_wpseo_primary_category", "rank_math_primary_category"
# Placeholders: %%title%% of Yoast, %title% and %date(Y)% of Rank Math
PLACEHOLDERS = {"_": re.compile(r"%%([\w-]+)%%"), "r": re.compile(r"%([a-z_]+)(?:\([^)%]*\))?%")}
# Other names of the values that matter most
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
# Values of these are defaults or the plugins' own counts and caches.
DEFAULTS = {"", "0", "-", "default", "none", "off", "no", "null", "[]", "{}", "a:0:{}"}
INTERNAL = re.compile(
    r"content_score|linkdex|inclusive_language_score|estimated-reading-time-minutes|wordproof_timestamp|"
    r".*score|internal_links_processed|analytic_object_id|og_content_image|analysis_data.*|is_cornerstone|"
    r"post-image-(?:id|source)|.*(?:-id|_id|_width|_height)"
)
ROBOTS = re.compile(r'"(\w+)"')


def fill_placeholders(key: str, text: str, words: dict[str, str]) -> str:
    """Return the text of a plugin with its placeholders filled in, or "" if it has another one than `words`.

    `key` is the text's meta key, whose plugin decides what a placeholder is.
    """
    placeholder = PLACEHOLDERS[key[0]]
    if any(name not in words for name in placeholder.findall(text)):
        return ""
    return " ".join(placeholder.sub(lambda name: words[name[1]], decode_references(text)).split())


def unused_values(meta: dict[str, str]) -> Iterator[str]:
    """Yield the names of what plugins store in `meta`, by key, that is neither a default nor internal to them."""
    for key, value in meta.items():
        prefix = next((prefix for prefix in PREFIXES if key.startswith(prefix)), None)
        if prefix and value.strip().lower() not in DEFAULTS:
            name = key.removeprefix(prefix)
            if name == "robots":  # a list of Rank Math
                yield from (word for word in ROBOTS.findall(value) if word not in ("index", "follow"))
            elif not INTERNAL.fullmatch(name) and (name, value) != ("meta-robots-noindex", "2"):  # 2 is "index"
                yield NAMES.get(name, name.replace("_", " ").replace("-", " "))
