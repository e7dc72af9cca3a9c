"""Decide who gets a slug that several articles want, whatever their order."""

from collections import deque

from converters.records import Mistake
from transfer.matching import PlannedArticle, StoredArticle
from transfer.report import ImportReport, show_value
from transfer.spool import Spool

SLUG_TAKEN = "Slugs that belong to other articles"


def resolve_slugs(
    articles: list[PlannedArticle], stored: list[StoredArticle], spool: Spool, report: ImportReport
) -> None:
    """Decide which slug each article gets.

    A stored article keeps its slug unless the import gives it another one. An article that wants such a slug does not
    get it: a new one from another system is left alone, a stored one keeps its own slug, and so does whoever wanted
    that; a record in a format of this service is rejected.
    """
    holders = {article.slug: article for article in stored}
    moving = {}
    not_moved: dict[int, PlannedArticle] = {}  # rejected, although they would have moved
    for article in articles:
        if article.stored and article.is_rejected:
            not_moved[article.stored.pk] = article
        if article.stored and (article.keeps_text or article.left_alone or article.is_rejected):
            article.slug = article.stored.slug
        elif article.stored and article.slug != article.stored.slug:
            moving[article.stored.pk] = article
    takers = {}
    for article in articles:
        holder = holders.get(article.slug)
        if holder and holder is not article.stored and not (article.is_rejected or article.left_alone):
            takers[holder.pk] = article
    # Stored articles that keep their slugs. Each may keep another one from moving, and so on along the chain: if a is
    # to get the slug of b, and b that of c, which stays, then b stays, and so does a.
    staying = deque(article for article in stored if article.pk in takers and article.pk not in moving)
    while staying:
        holder = staying.popleft()
        loser = takers.get(holder.pk)
        if loser:
            _lose_slug(loser, holder, not_moved.get(holder.pk), spool, report)
            if loser.stored:
                staying.append(loser.stored)
                not_moved[loser.stored.pk] = loser


def _lose_slug(
    article: PlannedArticle,
    holder: StoredArticle,
    blocker: PlannedArticle | None,
    spool: Spool,
    report: ImportReport,
) -> None:
    """Do without the slug that a stored article keeps, in case of a `blocker` because that one was not imported."""
    if not article.entry.source:
        where = spool.read(blocker.entry).where if blocker else spool.rejected["id"].get(holder.id)
        _reject(article, holder, where, spool, report)
    elif article.stored:
        article.slug = article.stored.slug
        article.lost_slug = article.entry.slug
    else:
        article.left_alone = SLUG_TAKEN


def _reject(
    article: PlannedArticle, holder: StoredArticle, blocker: str | None, spool: Spool, report: ImportReport
) -> None:
    """Reject a record in a format of this service because of its slug. `blocker`: where the holder's record is."""
    article.is_rejected = True
    where = spool.read(article.entry).where
    if blocker:
        reason = "Is still taken, because {} was not imported. Correct that article first."
        report.reject(Mistake(where, reason, "slug", article.entry.slug, blocker))
        return
    hint = "Choose another slug."
    if not article.stored:
        hint = "Choose another slug. To replace that article instead, give this one the same id or no id."
    other = f"{show_value(holder.title)} (id {holder.id})"
    report.reject(Mistake(where, f"Already belongs to the stored article {{}}. {hint}", "slug", article.slug, other))
