"""Match each imported article to a stored one: by its origin, otherwise by what it has in common with a missing one.

For example, a folder is imported again:

| file             | before      | result                                                                |
|------------------|-------------|-----------------------------------------------------------------------|
| spring.md        | spring.md   | the same article: the origin is the same                              |
| archive/soup.md  | soup.md     | the same article, moved, if its title and its slug or date are the same |
| party.md         | (none)      | a new article                                                         |
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import Row

from converters.source_articles import ImportProblem, Origin, SourceArticle
from models import Article, db
from storage.queries import ARTICLE_SUMMARIES
from transfer.checks import CheckedArticles, locate
from transfer.report import show_value

APPENDED_DATE = re.compile(r"-\d{4}-\d\d-\d\d\Z")
SAME_ARTICLE = "Is the stored article {}, and so is another article of this import. Remove one of the two."
ORIGIN_TAKEN = "Is the source of the stored article {}. Remove source and sourceKey."

# what matching and planning need to know about a stored article
StoredArticle = Row[Any]
Matches = dict[SourceArticle, StoredArticle]
# what two articles that are the same have in common, given slug, title and date
FindTraits = Callable[[str, str, datetime | None], list[Hashable]]


def load_stored(customer_id: int) -> list[StoredArticle]:
    """Return summaries of a customer's articles, ordered by slug."""
    return list(db.session.execute(ARTICLE_SUMMARIES.where(Article.customer_id == customer_id).order_by(Article.slug)))


def match_articles(
    checked: CheckedArticles, stored: list[StoredArticle]
) -> tuple[Matches, dict[SourceArticle, ImportProblem]]:
    """Return the stored article of each imported one that is not new, and problems."""
    articles = checked.valid
    matcher = _Matcher(stored)
    for article in articles:
        matcher.match_known(article)
    for article in articles:
        matcher.match_slug(article)
        matcher.reject_taken_origin(article)
    missing = [row for row in stored if checked.is_missing(Origin(row.source, row.source_key))]
    drafts = [row for row in missing if row.status == "draft" and not (row.text_edited or row.publication_edited)]
    matcher.match_alike(articles, missing, _slug_title_and_date)
    matcher.match_alike(articles, missing, _title_and_slug_or_date)
    matcher.match_alike(articles, drafts, _slug_only)
    return matcher.matches, matcher.problems


def has_appended_date(stored_slug: str, slug: str) -> bool:
    """Return whether a stored slug is the one in the source with a date appended."""
    return stored_slug != slug and APPENDED_DATE.sub("", stored_slug) == slug


class _Matcher:
    """The matching of one import. No two of its articles get the same stored one."""

    def __init__(self, stored: list[StoredArticle]) -> None:
        self.matches: Matches = {}
        self.problems: dict[SourceArticle, ImportProblem] = {}
        self._by_origin: dict[tuple[Any, Any], StoredArticle] = {
            (row.source, row.source_key): row for row in stored if row.source
        }
        self._by_id = {row.id: row for row in stored}
        self._by_slug = {row.slug: row for row in stored}
        self._matched: set[int] = set()  # by pk

    def match_known(self, article: SourceArticle) -> None:
        """Match an article by its origin or, in a format of this service, by its id."""
        row = article.row
        stored = self._by_origin.get(article.origin) if article.origin else None
        if not stored and article.is_own_format and "id" in row:
            stored = self._own(article, self._by_id.get(row["id"]))
        if stored and stored.pk in self._matched:
            self._reject(article, SAME_ARTICLE, stored)
        elif stored:
            self._match(article, stored)

    def match_slug(self, article: SourceArticle) -> None:
        """Match an article in a format of this service by its slug if it has no id."""
        if article.is_own_format and "id" not in article.row and article not in self.matches:
            stored = self._own(article, self._by_slug.get(article.row["slug"]))
            if stored and stored.pk not in self._matched:
                self._match(article, stored)

    def reject_taken_origin(self, article: SourceArticle) -> None:
        """Reject a new article that names the origin of a stored one."""
        holder = self._by_origin.get((article.row.get("source"), article.row.get("source_key")))
        if holder and not article.origin and article not in self.matches:
            self._reject(article, ORIGIN_TAKEN, holder)

    def _own(self, article: SourceArticle, stored: StoredArticle | None) -> StoredArticle | None:
        """Return a stored article, unless both have a source, which are then different."""
        return None if stored and stored.source and article.origin else stored

    def match_alike(
        self, articles: Iterable[SourceArticle], missing: Iterable[StoredArticle], find_traits: FindTraits
    ) -> None:
        """Match articles to the missing ones of their source that share a trait, if exactly one on each side does."""
        by_trait: defaultdict[Hashable, list[StoredArticle]] = defaultdict(list)
        for row in missing:
            if row.pk not in self._matched:
                for slug in {row.slug, APPENDED_DATE.sub("", row.slug)}:
                    for trait in find_traits(slug, row.title, row.published_at):
                        by_trait[row.source, trait].append(row)
        pairs: dict[tuple[SourceArticle, int], StoredArticle] = {}
        for article in articles:
            if article.origin and article not in self.matches:
                for trait in find_traits(article.row["slug"], article.row["title"], article.row.get("published_at")):
                    pairs |= {(article, row.pk): row for row in by_trait[article.origin.source, trait]}
        times_paired = Counter(chain.from_iterable(pairs))  # by article, and by pk
        for (article, pk), row in pairs.items():
            if times_paired[article] == times_paired[pk] == 1:
                self._match(article, row)

    def _match(self, article: SourceArticle, stored: StoredArticle) -> None:
        self.matches[article] = stored
        self._matched.add(stored.pk)

    def _reject(self, article: SourceArticle, reason: str, stored: StoredArticle) -> None:
        self.problems.setdefault(article, ImportProblem(locate(article), reason, other=show_value(stored.slug)))


# No date is the same as no other.
def _slug_title_and_date(slug: str, title: str, date: datetime | None) -> list[Hashable]:
    return [(slug, title, date)] if date else []


def _title_and_slug_or_date(slug: str, title: str, date: datetime | None) -> list[Hashable]:
    return [(title, slug), (title, date)] if date else [(title, slug)]


def _slug_only(slug: str, _title: str, _date: datetime | None) -> list[Hashable]:
    return [slug]
