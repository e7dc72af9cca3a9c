"""Decide which article gets a contested slug, independently of the import's order.

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
from collections.abc import Container, Mapping
from datetime import date

from transfer.planned import PlannedArticle, StoredArticle
from transfer.report import show_value
from transfer.spool import Spool

REPEATED_SLUG = "Is also the slug of {}. Give them different slugs or different dates."
APPENDED_DATE = re.compile(r"-\d{4}-\d\d-\d\d")


def resolve_slugs(articles: list[PlannedArticle], stored: list[StoredArticle], spool: Spool) -> None:
    """Decide which slug each article gets."""
    for article in articles:
        if article.stored and (article.keeps_content or article.left_alone or _has_dated_slug(article)):
            article.slug = article.stored.slug
    _resolve_contested_slugs([article for article in articles if article.is_active], spool)
    _respect_stored_slugs([article for article in articles if article.is_active], stored)


def _has_dated_slug(article: PlannedArticle) -> bool:
    """Return whether an earlier import appended a date to the slug. It may have been another date."""
    slug = article.entry.slug
    if not article.stored or not article.entry.source or not article.stored.slug.startswith(slug):
        return False
    return APPENDED_DATE.fullmatch(article.stored.slug, len(slug)) is not None


def _resolve_contested_slugs(articles: list[PlannedArticle], spool: Spool) -> None:
    """Resolve slugs that several articles from other systems have: one keeps the slug, new ones get a date appended.

    An article that an earlier import stored with a date appended still has the slug without the date in its source.
    """
    wanted = {article.slug for article in articles}
    by_slug: defaultdict[str, list[PlannedArticle]] = defaultdict(list)  # as in the source
    for article in articles:
        if article.entry.source and (article.slug == article.entry.slug or _has_dated_slug(article)):
            by_slug[article.entry.slug].append(article)
    for slug, contenders in by_slug.items():
        if len(contenders) > 1:
            _reject_repeated_dates(contenders, spool)
            _award_slug(slug, [article for article in contenders if article.is_active], wanted)


def _reject_repeated_dates(contenders: list[PlannedArticle], spool: Spool) -> None:
    """Reject articles that share a slug and a day, except the first. Two without a date share a day too.

    Settled articles come first, and are never rejected; then other stored ones, then new ones.
    """
    settled = [article for article in contenders if _is_settled(article)]
    stored = [article for article in contenders if article.stored and not _is_settled(article)]
    new = [article for article in contenders if not article.stored]
    by_day: dict[date, PlannedArticle] = {}
    for article in (*settled, *stored, *new):
        first = by_day.setdefault(article.entry.sort_date.date(), article)
        if first is not article and not _is_settled(article):
            article.reject(REPEATED_SLUG, "slug", article.entry.slug, spool.locate(first.entry))


def _is_settled(article: PlannedArticle) -> bool:
    """Return whether an article is stored under its slug, with or without a date."""
    return article.stored is not None and article.slug == article.stored.slug


def _award_slug(slug: str, contenders: list[PlannedArticle], wanted: Container[str]) -> None:
    """Leave a slug to the article that is stored under it, otherwise to the oldest one."""
    oldest_first = sorted(contenders, key=lambda article: article.entry.sort_date)
    keeper = next(
        (article for article in contenders if article.stored and article.stored.slug == slug), oldest_first[0]
    )
    for article in contenders:
        if article is keeper or _is_settled(article):
            continue
        dated_slug = article.entry.dated_slug
        if not article.stored and dated_slug and dated_slug not in wanted:
            article.slug = dated_slug
        else:
            article.lose_slug()


def _respect_stored_slugs(articles: list[PlannedArticle], stored: list[StoredArticle]) -> None:
    """Leave the slugs of stored articles to them, unless the import gives them other ones."""
    by_slug = {article.slug: article for article in stored}
    moving_pks = {article.stored.pk for article in articles if article.stored and article.slug != article.stored.slug}
    article_by_holder = {}  # the article that wants a slug, by the pk of the stored article that has it
    for article in articles:
        holder = by_slug.get(article.slug)
        if holder and holder is not article.stored:
            article_by_holder[holder.pk] = article
    for holder in stored:
        if holder.pk not in moving_pks:
            _deny_slug(holder, article_by_holder)


def _deny_slug(holder: StoredArticle, article_by_holder: Mapping[int, PlannedArticle]) -> None:
    """Deny an article the slug of a stored one that keeps it, then whoever wanted that article's slug, and so on.

    If a wants the slug of b, and b that of c, which stays, then b stays too, and so does a.
    """
    keeper: StoredArticle | None = holder
    while keeper and (article := article_by_holder.get(keeper.pk)):
        if article.entry.source:
            article.lose_slug()
        else:
            _reject(article, keeper)
        keeper = article.stored


def _reject(article: PlannedArticle, holder: StoredArticle) -> None:
    """Reject an article in a format of this service, because a stored article keeps the slug."""
    is_unknown_id = article.entry.id and not article.stored
    hint = " To replace that article instead, give this one the same id or no id." if is_unknown_id else ""
    reason = f"Already belongs to the stored article {{}}, which keeps it. Choose another slug.{hint}"
    article.reject(reason, "slug", article.entry.slug, f"{show_value(holder.title)} (id {holder.id})")
