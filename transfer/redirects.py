"""The old URLs of an import's articles, to make redirects from."""

import csv
from io import StringIO

from transfer.article_links import ArticleLinks
from transfer.plan import ImportPlan


def list_redirects(plan: ImportPlan, links: ArticleLinks) -> str:
    """Return CSV with a row for each old URL of the articles, and the slug that it leads to."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("old_url", "slug"))
    slug_by_url: dict[str, str] = {}  # each URL once
    for article, slug in plan.slugs.items():
        for url in links.find_moved(article):
            slug_by_url.setdefault(url, slug)
    writer.writerows(slug_by_url.items())
    return text.getvalue()
