"""Decide which article gets a contested slug, independently of the import's order.

For example, a blog has a `year-in-review` of each year, and an article without a source is stored as `soup`:

| article in the import    | stored as        | gets                        |
|--------------------------|------------------|-----------------------------|
| year-in-review, 2021     | `year-in-review` | `year-in-review`            |
| year-in-review, 2022     | not yet          | `year-in-review-2022-12-31` |
| soup, new                | not yet          | nothing: it is left alone   |
| soup, renamed from broth | `broth`          | `broth`                     |
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime
from typing import Any

from converters.source_articles import ImportProblem, SourceArticle
from schemas import MAX_SLUG_LENGTH
from transfer.checks import locate
from transfer.matching import Matches, StoredArticle
from transfer.report import show_value

LATEST = datetime.max.replace(tzinfo=UTC)
REPEATED_SLUG = "Is also the slug of {}. Give them different slugs or different dates."
SLUG_TAKEN = "Already belongs to the article {}, which keeps it. Choose another slug."


class SlugAssignment:
    """The slugs of one import's articles."""

    def __init__(self, articles: Collection[SourceArticle], matches: Matches, stored: list[StoredArticle]) -> None:
        """Assign a slug to each article. `stored` are all of the customer's articles."""
        self.slugs: dict[SourceArticle, str] = {}  # after the import, of the articles to write
        self.left_alone: dict[SourceArticle, str] = {}  # new articles, and the titles of those with their slugs
        self.problems: dict[SourceArticle, ImportProblem] = {}
        self._matches = matches
        self._stored = stored
        by_rank = sorted(articles, key=self._rank)
        self._sharing = defaultdict(list)  # the articles of the import that want the same slug, by rank
        for article in by_rank:
            if article.origin and self._wanted_slug(article) == article.row["slug"]:
                self._sharing[article.row["slug"]].append(article)
        self._rename([article for article in by_rank if article in matches])
        self._add([article for article in by_rank if article not in matches])

    def _rename(self, articles: Iterable[SourceArticle]) -> None:
        """Assign the new slugs of stored articles, until nobody loses one to an article that keeps it."""
        claims: dict[str, SourceArticle] = {}
        for article in articles:
            slug = self._wanted_slug(article)
            if claims.setdefault(slug, article) is article:
                self.slugs[article] = slug
            else:
                self._keep_old_slug(article, claims[slug].row["title"])
        while losers := self._find_losers():  # they keep their old slugs, which others may want
            for article, keeper in losers:
                self._keep_old_slug(article, keeper.title)

    def _find_losers(self) -> list[tuple[SourceArticle, StoredArticle]]:
        """Return the articles whose new slugs others keep, and those others."""
        slugs = self._slugs_by_pk()
        keepers = {stored.slug: stored for stored in self._stored if slugs[stored.pk] == stored.slug}
        found = [(article, keepers.get(slug, self._matches[article])) for article, slug in self.slugs.items()]
        return [(article, keeper) for article, keeper in found if keeper is not self._matches[article]]

    def _slugs_by_pk(self) -> dict[int, str]:
        """Return the slugs of the stored articles after the import."""
        slugs = {stored.pk: stored.slug for stored in self._stored}
        return slugs | {stored.pk: self.slugs.get(article, stored.slug) for article, stored in self._matches.items()}

    def _keep_old_slug(self, article: SourceArticle, winner: str) -> None:
        """Keep the old slug of an article or, in a format of this service, reject the article."""
        if article.origin:
            self.slugs[article] = self._matches[article].slug
        else:
            self.slugs.pop(article, None)
            self.problems[article] = self._taken(article, winner)

    def _add(self, articles: Iterable[SourceArticle]) -> None:
        """Assign the slugs of new articles, first those without a date appended."""
        slugs = self._slugs_by_pk()
        titles = {slugs[stored.pk]: stored.title for stored in self._stored}
        shared = {slug for article, slug in self.slugs.items() if article in self._sharing[slug]}
        to_date = []
        for article in articles:
            slug = article.row["slug"]
            if article.origin and self._is_repeated(article):
                other = next(other for other in self._sharing[slug] if other is not article)
                self.problems[article] = ImportProblem(locate(article), REPEATED_SLUG, "slug", slug, other.where)
            elif slug not in titles:
                self._take(article, slug, titles)
                shared.add(slug)
            elif not article.origin:
                self.problems[article] = self._taken(article, titles[slug])
            elif slug in shared:
                to_date.append(article)
            else:
                self.left_alone[article] = titles[slug]
        for article in to_date:
            dated_slug = f"{article.row['slug']}-{_day(article)}"
            if dated_slug in titles:
                self.left_alone[article] = titles[dated_slug]
            else:
                self._take(article, dated_slug, titles)

    def _take(self, article: SourceArticle, slug: str, titles: dict[str, str]) -> None:
        self.slugs[article] = slug
        titles[slug] = article.row["title"]

    def _is_repeated(self, article: SourceArticle) -> bool:
        """Return whether a new article shares its slug, and has no date that distinguishes it."""
        sharing = self._sharing[article.row["slug"]]
        day = _day(article)
        is_too_long = len(f"{article.row['slug']}-{day}") > MAX_SLUG_LENGTH
        has_twin = sum(_day(other) == day for other in sharing) > 1
        return has_twin or (sharing[0] is not article and (day is None or is_too_long))

    def _taken(self, article: SourceArticle, winner: str) -> ImportProblem:
        return ImportProblem(locate(article), SLUG_TAKEN, "slug", article.row["slug"], show_value(winner))

    def _wanted_slug(self, article: SourceArticle) -> str:
        """Return the slug in the source, or the stored one if that is yours."""
        stored = self._matches.get(article)
        slug: str = stored.slug if stored and stored.text_edited and article.origin else article.row["slug"]
        return slug

    def _rank(self, article: SourceArticle) -> tuple[Any, ...]:
        """Return a sort key: stored under this slug, stored, published by their source, the oldest first."""
        stored = self._matches.get(article)
        is_settled = stored is not None and stored.slug == self._wanted_slug(article)
        is_published = article.claim == "published"
        published_at = article.row.get("published_at") or LATEST
        return not is_settled, stored is None, not is_published, published_at, article.origin or ()


def _day(article: SourceArticle) -> date | None:
    """Return the day of publication (UTC), which is appended to a slug."""
    published_at: datetime | None = article.row.get("published_at")
    return published_at.date() if published_at else None
