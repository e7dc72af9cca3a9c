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

from converters.records import Mistake
from transfer.matching import PlannedArticle, StoredArticle
from transfer.notes import SLUG_TAKEN
from transfer.report import ImportReport, show_value
from transfer.spool import Spool

REPEATED_SLUG = "Is also the slug of {}. Give them different slugs or different dates."
APPENDED_DATE = re.compile(r"-\d{4}-\d\d-\d\d")


def resolve_slugs(
    articles: list[PlannedArticle], stored: list[StoredArticle], spool: Spool, report: ImportReport
) -> None:
    """Decide which slug each article gets."""
    for article in articles:
        is_unchanged = article.keeps_text or article.left_alone or article.is_rejected or _has_dated_slug(article)
        if article.stored and is_unchanged:
            article.slug = article.stored.slug
    _share_slugs(articles, spool, report)
    _respect_stored_slugs(articles, stored, spool, report)


def _has_dated_slug(article: PlannedArticle) -> bool:
    """Return whether an earlier import appended a date to the slug. It may have been another date."""
    slug = article.entry.slug
    if not article.stored or not article.entry.source or not article.stored.slug.startswith(slug):
        return False
    return APPENDED_DATE.fullmatch(article.stored.slug, len(slug)) is not None


def _share_slugs(articles: list[PlannedArticle], spool: Spool, report: ImportReport) -> None:
    """Let one of several articles from other systems have their slug, and append a date to the slugs of new ones."""
    groups: defaultdict[str, list[PlannedArticle]] = defaultdict(list)
    active = [article for article in articles if not article.left_alone and not article.is_rejected]
    for article in active:
        if article.entry.source and (article.slug == article.entry.slug or _has_dated_slug(article)):
            groups[article.entry.slug].append(article)
    wanted = {article.slug for article in active}
    for group in groups.values():
        if len(group) > 1:
            _share_slug(_reject_repeated_dates(group, spool, report), wanted)


def _reject_repeated_dates(group: list[PlannedArticle], spool: Spool, report: ImportReport) -> list[PlannedArticle]:
    """Return the articles with different dates, the oldest first. Those whose slugs are settled are not rejected."""
    by_day: dict[date, PlannedArticle] = {}
    distinct = []
    for article in sorted(group, key=lambda article: (not _is_settled(article), not article.stored)):
        other = by_day.setdefault(article.entry.age.date(), article)
        if other is article or _is_settled(article):
            distinct.append(article)
            continue
        article.is_rejected = True
        article.slug = article.stored.slug if article.stored else article.slug
        where = spool.read(article.entry).where
        report.reject(Mistake(where, REPEATED_SLUG, "slug", article.entry.slug, spool.read(other.entry).where))
    return sorted(distinct, key=lambda article: article.entry.age)


def _is_settled(article: PlannedArticle) -> bool:
    """Return whether an article is stored under its slug, with or without a date."""
    return article.stored is not None and article.slug == article.stored.slug


def _share_slug(group: list[PlannedArticle], wanted: Container[str]) -> None:
    """Let the article that is stored under a slug keep it; otherwise, let the oldest have it."""
    slug = group[0].entry.slug
    keeper = next((article for article in group if _is_settled(article) and article.slug == slug), group[0])
    for article in group:
        if article is keeper or _is_settled(article):
            continue
        if article.stored:
            _keep_slug(article, article.stored)
        elif article.entry.dated_slug and article.entry.dated_slug not in wanted:
            article.slug = article.entry.dated_slug
        else:
            article.left_alone = SLUG_TAKEN


def _respect_stored_slugs(
    articles: list[PlannedArticle], stored: list[StoredArticle], spool: Spool, report: ImportReport
) -> None:
    """Let stored articles keep their slugs unless the import gives them other ones.

    An article that wants such a slug does not get it: a new one from another system is left alone, a stored one keeps
    its own slug, and so does whoever wanted that; a record in a format of this service is rejected.
    """
    holders = {article.slug: article for article in stored}
    moving = set()  # pks
    takers = {}  # by the pk of the article that has their slug
    for article in articles:
        if article.stored and article.slug != article.stored.slug:
            moving.add(article.stored.pk)
        holder = holders.get(article.slug)
        if holder and holder is not article.stored and not (article.is_rejected or article.left_alone):
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
            _reject(loser, holder, spool, report)
        elif loser.stored:
            _keep_slug(loser, loser.stored)
        else:
            loser.left_alone = SLUG_TAKEN


def _keep_slug(article: PlannedArticle, stored: StoredArticle) -> None:
    """Let a stored article keep its slug, because another one has the slug that it was to get."""
    article.lost_slug = article.slug
    article.slug = stored.slug


def _reject(article: PlannedArticle, holder: StoredArticle, spool: Spool, report: ImportReport) -> None:
    """Reject a record in a format of this service, because a stored article keeps the slug."""
    article.is_rejected = True
    is_unknown_id = article.entry.id and not article.stored
    hint = " To replace that article instead, give this one the same id or no id." if is_unknown_id else ""
    reason = f"Already belongs to the stored article {{}}, which keeps it. Choose another slug.{hint}"
    where = spool.read(article.entry).where
    report.reject(Mistake(where, reason, "slug", article.slug, f"{show_value(holder.title)} (id {holder.id})"))
