"""Decide who gets a slug that several articles want, whatever their order.

For example, a blog has a `year-in-review` of each year, and an article without a source is stored as `soup`:

| article in the import    | stored as        | gets                        |
|--------------------------|------------------|-----------------------------|
| year-in-review, 2021     | `year-in-review` | `year-in-review`            |
| year-in-review, 2022     | not yet          | `year-in-review-2022-12-31` |
| soup, new                | not yet          | nothing: it is left alone   |
| soup, renamed from broth | `broth`          | `broth`                     |
"""

import re
from collections import defaultdict
from collections.abc import Container
from datetime import date

from transfer.notes import SLUG_TAKEN
from transfer.planned import PlannedArticle, StoredArticle
from transfer.report import show_value
from transfer.spool import Spool

REPEATED_SLUG = "Is also the slug of {}. Give them different slugs or different dates."
APPENDED_DATE = re.compile(r"-\d{4}-\d\d-\d\d")


def resolve_slugs(articles: list[PlannedArticle], stored: list[StoredArticle], spool: Spool) -> None:
    """Decide which slug each article gets."""
    for article in articles:
        if article.stored and (article.keeps_text or article.left_alone or _has_dated_slug(article)):
            article.slug = article.stored.slug
    _share_slugs([article for article in articles if article.is_active], spool)
    _respect_stored_slugs([article for article in articles if article.is_active], stored)


def _has_dated_slug(article: PlannedArticle) -> bool:
    """Return whether an earlier import appended a date to the slug. It may have been another date."""
    slug = article.entry.slug
    if not article.stored or not article.entry.source or not article.stored.slug.startswith(slug):
        return False
    return APPENDED_DATE.fullmatch(article.stored.slug, len(slug)) is not None


def _share_slugs(articles: list[PlannedArticle], spool: Spool) -> None:
    """Resolve slugs that several articles from other systems have: one keeps the slug, new ones get a date appended."""
    wanted = {article.slug for article in articles}
    groups: defaultdict[str, list[PlannedArticle]] = defaultdict(list)
    for article in articles:
        if article.entry.source and (article.slug == article.entry.slug or _has_dated_slug(article)):
            groups[article.entry.slug].append(article)
    for group in groups.values():
        if len(group) > 1:
            _share_slug(_reject_repeated_dates(group, spool), wanted)


def _reject_repeated_dates(group: list[PlannedArticle], spool: Spool) -> list[PlannedArticle]:
    """Return the articles with different dates, the oldest first. Those whose slugs are settled are not rejected."""
    by_day: dict[date, PlannedArticle] = {}
    for article in sorted(group, key=lambda article: (not _is_settled(article), not article.stored)):
        other = by_day.setdefault(article.entry.age.date(), article)
        if other is not article and not _is_settled(article):
            article.reject(REPEATED_SLUG, "slug", article.entry.slug, spool.locate(other.entry))
    return sorted((article for article in group if not article.mistake), key=lambda article: article.entry.age)


def _is_settled(article: PlannedArticle) -> bool:
    """Return whether an article is stored under its slug, with or without a date."""
    return article.stored is not None and article.slug == article.stored.slug


def _share_slug(group: list[PlannedArticle], wanted: Container[str]) -> None:
    """Keep a slug for the article that is stored under it, otherwise for the oldest."""
    slug = group[0].entry.slug
    keeper = next((article for article in group if article.stored and article.stored.slug == slug), group[0])
    for article in group:
        if article is keeper or _is_settled(article):
            continue
        if article.stored:
            article.keep_slug(article.stored)
        elif article.entry.dated_slug and article.entry.dated_slug not in wanted:
            article.slug = article.entry.dated_slug
        else:
            article.left_alone = SLUG_TAKEN


def _respect_stored_slugs(articles: list[PlannedArticle], stored: list[StoredArticle]) -> None:
    """Keep the slugs of stored articles, unless the import gives them other ones.

    An article that wants such a slug does not get it: a new one from another system is left alone, a stored one keeps
    its own slug, also against others that want it, and a record in a format of this service is rejected.
    """
    holders = {article.slug: article for article in stored}
    moving = {article.stored.pk for article in articles if article.stored and article.slug != article.stored.slug}
    takers = {}  # by the pk of the article that has their slug
    for article in articles:
        holder = holders.get(article.slug)
        if holder and holder is not article.stored:
            takers[holder.pk] = article
    # Each article that keeps its slug may keep another one from moving, and so on along the chain: if a is to get the
    # slug of b, and b that of c, which stays, then b stays, and so does a.
    staying = [article for article in stored if article.pk in takers and article.pk not in moving]
    for holder in staying:
        loser = takers.get(holder.pk)
        if not loser:
            continue
        if loser.stored:
            staying.append(loser.stored)
        if not loser.entry.source:
            _reject(loser, holder)
        elif loser.stored:
            loser.keep_slug(loser.stored)
        else:
            loser.left_alone = SLUG_TAKEN


def _reject(article: PlannedArticle, holder: StoredArticle) -> None:
    """Reject a record in a format of this service, because a stored article keeps the slug."""
    is_unknown_id = article.entry.id and not article.stored
    hint = " To replace that article instead, give this one the same id or no id." if is_unknown_id else ""
    reason = f"Already belongs to the stored article {{}}, which keeps it. Choose another slug.{hint}"
    article.reject(reason, "slug", article.entry.slug, f"{show_value(holder.title)} (id {holder.id})")
