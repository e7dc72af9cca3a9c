"""Metadata of WordPress SEO plugins: Yoast, Rank Math, SEOPress, AIOSEO and The SEO Framework."""

import re

from content.html import decode_references

SEO_PREFIXES = ("_yoast_wpseo_", "rank_math_", "_seopress_", "_aioseo_", "_aioseop_", "_genesis_")
# The meta keys of each field, by precedence
KEYS = {
    "metaTitle": (
        *("_yoast_wpseo_title", "rank_math_title", "_seopress_titles_title", "_aioseo_title", "_aioseop_title"),
        "_genesis_title",
    ),
    "metaDesc": (
        *("_yoast_wpseo_metadesc", "rank_math_description", "_seopress_titles_desc", "_aioseo_description"),
        *("_aioseop_description", "_genesis_description"),
    ),
}
PRIMARY_CATEGORY_KEYS = ("_yoast_wpseo_primary_category", "rank_math_primary_category")
# %%title%% in Yoast and SEOPress, %title% and %date(Y)% in Rank Math, #post_title in AIOSEO
PLACEHOLDER = re.compile(r"%%([\w-]+)%%|%([a-z_]+)(?:\([^)%]*\))?%|#([a-z]+_[a-z_]+|categories|permalink|tagline)")


def take_seo_texts(meta: dict[str, str], title: str, site_name: str) -> dict[str, str]:
    """Remove a post's meta title and description from its metadata, and return them by field.

    Placeholders for the title, the separator, the site's name and the page are replaced. A text with any other one
    stays in `meta`.
    """
    words = dict.fromkeys(("sitename", "sitetitle", "site_title"), site_name)
    words |= {"title": title, "post_title": title, "sep": "-", "separator_sa": "-", "page": ""}
    texts = {}
    for field, keys in KEYS.items():
        for key in keys:
            text = _fill_placeholders(meta.get(key, ""), words)
            if text and field not in texts:
                texts[field] = text
                del meta[key]
    return texts


def _fill_placeholders(text: str, words: dict[str, str]) -> str:
    """Return text with words instead of placeholders, or "" for a placeholder that `words` lacks."""
    try:
        filled = PLACEHOLDER.sub(lambda name: words[name[1] or name[2] or name[3]], decode_references(text))
    except KeyError:
        return ""
    return " ".join(filled.split())
