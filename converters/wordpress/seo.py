"""Titles and descriptions for search engines, from the WordPress plugins Yoast and Rank Math."""

import re

from content.html import decode_references
from converters import note_kinds
from converters.source_articles import SourceArticle
from converters.wordpress.wxr import Item

SEO_KEYS = {  # by field, of Yoast and of Rank Math
    "metaTitle": ("_yoast_wpseo_title", "rank_math_title"),
    "metaDesc": ("_yoast_wpseo_metadesc", "rank_math_description"),
}
# %%title%% in Yoast, %title% and %date(Y)% in Rank Math
PLACEHOLDER = re.compile(r"%%([\w-]+)%%|%([a-z_]+)(?:\([^)%]*\))?%")


def set_seo_fields(article: SourceArticle, item: Item, title: str, site_name: str) -> None:
    """Set the meta title and description. Texts with placeholders that only the plugin can fill in are left out."""
    words = {"title": title, "sitename": site_name, "sep": "-", "page": ""}
    for field, keys in SEO_KEYS.items():
        for text in filter(None, map(item.meta.get, keys)):
            try:
                filled = PLACEHOLDER.sub(lambda name: words[name[1] or name[2]], decode_references(text))
            except KeyError:
                article.note(note_kinds.LEFT_OUT, text)
                continue
            article.fields[field] = " ".join(filled.split())
            break
