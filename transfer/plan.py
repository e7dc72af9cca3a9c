"""Decide which stored article each imported one matches, whatever the order of the articles.

Ids and slugs decide. The content is read only for the few articles whose id and slug leave it open.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from converters.records import Identity, Mistake
from models import Article, db
from storage.queries import BATCH_SIZE
from transfer.report import ImportReport, show_value
from transfer.spool import MAX_TITLE_LENGTH, Spool, SpooledArticle, SpoolEntry

GENERATED_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # a UUID, as the import generates it
WORDPRESS_ID = re.compile(r"(wordpress-.+)-[0-9]+")  # Ids of version 1.2.1 lack the blog.
OTHER_SOURCE_HINT = (
    "Change its slug or delete it (flask articles edit, flask articles delete), or use another --customer."
)
LONG_TITLE = f"Must be at most {MAX_TITLE_LENGTH} characters long."

T = TypeVar("T")


class Decision(Enum):
    """A decision about a valid article."""

    WRITE = "write"  # unless it is unchanged
    KEEP = "keep"  # The stored one has the same content, and an id from another source.
    REJECT = "reject"


@dataclass(slots=True, eq=False)
class PlannedArticle:
    """A valid article, and the decision about it."""

    entry: SpoolEntry
    stored_pk: int | None = None  # of the stored article that it matches
    holder_pk: int | None = None  # of the stored article that has its slug
    decision: Decision = Decision.WRITE

    @property
    def vacates_slug(self) -> bool:
        """Whether the stored article that it matches gives up its slug."""
        return self.stored_pk is not None and self.stored_pk != self.holder_pk

    @property
    def takes_slug(self) -> bool:
        """Whether another stored article currently has its slug."""
        return self.holder_pk is not None and self.holder_pk != self.stored_pk


def plan_import(
    customer_id: int, spool: Spool, report: ImportReport, has_same_content: Callable[[SpooledArticle, int], bool]
) -> list[PlannedArticle]:
    """Return the articles that are not rejected, each with the stored article that it matches.

    An article whose slug another stored article keeps is rejected. `has_same_content` compares an article with the
    stored one that has the given pk: if they are the same, one from WordPress or Ghost needs no change.
    """
    plan = _Plan(customer_id, spool, report, has_same_content)
    plan.find_stored()
    plan.match_by_slug()  # those without a match by id
    plan.reject_long_titles()  # A match may have the same title already.
    plan.resolve_slugs()  # The stored versions of rejected articles keep their slugs.
    return plan.accepted


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists of at most BATCH_SIZE items."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH_SIZE)):
        yield batch


class _Plan:
    """The plan of one import."""

    def __init__(
        self,
        customer_id: int,
        spool: Spool,
        report: ImportReport,
        has_same_content: Callable[[SpooledArticle, int], bool],
    ) -> None:
        self.customer_id = customer_id
        self.spool = spool
        self.report = report
        self.has_same_content = has_same_content
        self.articles = [PlannedArticle(entry) for entry in spool.entries]
        self.blockers: dict[int | None, PlannedArticle] = {}  # rejected articles, by the pk of their stored version

    @property
    def accepted(self) -> list[PlannedArticle]:
        """The articles that have not been rejected."""
        return [article for article in self.articles if article.decision is not Decision.REJECT]

    def find_stored(self) -> None:
        """Find the stored articles that have the ids and the slugs of the imported ones."""
        for batch in batches(self.articles):
            by_id = {article.entry.id: article for article in batch if article.entry.id}
            for pk, article_id in self._select(Article.id, by_id):
                by_id[article_id].stored_pk = pk
            by_slug = {article.entry.slug: article for article in batch}
            for pk, slug in self._select(Article.slug, by_slug):
                by_slug[slug].holder_pk = pk

    def _select(self, column: InstrumentedAttribute[str], values: Iterable[str]) -> Any:
        own = Article.customer_id == self.customer_id
        return db.session.execute(select(Article.pk, column).where(own, column.in_(values)))

    def match_by_slug(self) -> None:
        """Match each article whose id is not stored with the holder of its slug, unless the holder gets another one."""
        vacating = self._vacating()
        unmatched = (article for article in self.articles if article.holder_pk and not article.stored_pk)
        for batch in batches(article for article in unmatched if article.holder_pk not in vacating):
            holders = self._load_holders(batch)
            for article in batch:
                if self._is_match(article.entry, holders[article.holder_pk]):
                    article.stored_pk = article.holder_pk

    def _vacating(self) -> set[int | None]:
        """Return the pks of the stored articles that get another slug."""
        return {article.stored_pk for article in self.accepted if article.vacates_slug}

    def _load_holders(self, batch: list[PlannedArticle]) -> dict[int | None, Any]:
        """Return id, title and published_at of the stored articles that have the slugs of a batch, by pk."""
        columns = Article.pk, Article.id, Article.title, Article.published_at
        pks = [article.holder_pk for article in batch]
        return {row.pk: row for row in db.session.execute(select(*columns).where(Article.pk.in_(pks)))}

    def _is_match(self, entry: SpoolEntry, holder: Any) -> bool:
        """Return whether an article, whose id is not stored, matches the stored one that has its slug."""
        if holder.id in self.spool.rejected_by_id:  # The import has that one too, with a mistake.
            return False
        if entry.identity is Identity.ID_OR_SLUG:
            return True
        if entry.identity is Identity.ID:  # An unknown id means a new article.
            return not entry.id
        if not entry.id:  # A post without a usable id may only replace one that had none either.
            return bool(GENERATED_ID.fullmatch(holder.id))
        # The holder was deleted from the same blog and written anew, or version 1.2.1 stored it without the blog.
        return _is_same_blog(entry.id, holder.id) or self._is_from_version_1_2_1(entry, holder)

    def _is_from_version_1_2_1(self, entry: SpoolEntry, holder: Any) -> bool:
        """Return whether this is an article that version 1.2.1 stored under an id that did not contain the blog."""
        spooled = self.spool.read(entry)
        return (spooled.former_id, spooled.row.get("published_at")) == (holder.id, holder.published_at)

    def reject_long_titles(self) -> None:
        """Reject titles that are too long, unless they are stored already."""
        for article in self.articles:
            if article.entry.has_long_title:
                title = self.spool.read(article.entry).row["title"]
                stored = db.session.get(Article, article.stored_pk) if article.stored_pk else None
                if not stored or stored.title != title:
                    self._reject(article, LONG_TITLE, "title", title)

    def resolve_slugs(self) -> None:
        """Reject each article whose slug another stored article keeps."""
        vacating = self._vacating()
        # by the pk of the stored article whose slug they take
        takers = {article.holder_pk: article for article in self.accepted if article.takes_slug}
        for pk, taker in takers.items():
            if pk not in vacating:
                self._resolve_conflict(taker, takers)

    def _resolve_conflict(self, taker: PlannedArticle, takers: dict[int | None, PlannedArticle]) -> None:
        """Reject an article whose slug stays taken.

        Its stored version then keeps its own slug, so the article that was to take that slug is rejected too, and so on
        along the chain: if a is to get the slug of b, and b that of c, which stays, b is rejected, then a. The chain
        starts at a slug that stays taken, so it is no cycle. It ends early at a new article that is already stored
        under its slug.
        """
        current: PlannedArticle | None = taker
        while current:
            if self._is_already_stored(current):
                current.stored_pk = current.holder_pk
                current.decision = Decision.KEEP
                return
            self._reject_conflict(current)
            current = takers.get(current.stored_pk)

    def _is_already_stored(self, article: PlannedArticle) -> bool:
        """Return whether a new article from WordPress or Ghost has the same content as the stored one with its slug."""
        if article.entry.identity is not Identity.SOURCE or article.stored_pk or not article.holder_pk:
            return False
        return self.has_same_content(self.spool.read(article.entry), article.holder_pk)

    def _reject_conflict(self, article: PlannedArticle) -> None:
        """Reject an article because of its slug."""
        holder = self._load_holders([article])[article.holder_pk]
        if blocker := self._locate_blocker(holder):
            reason = "Is still taken, because {} was not imported. Correct that article first."
            self._reject(article, reason, "slug", article.entry.slug, blocker)
            return
        if article.entry.identity is Identity.SOURCE:
            hint = OTHER_SOURCE_HINT
        elif article.stored_pk:
            hint = "Choose another slug."
        else:
            hint = "Choose another slug. To replace that article instead, give this one the same id or no id."
        reason = f"Already belongs to the stored article {{}}. {hint}"
        self._reject(article, reason, "slug", article.entry.slug, f"{show_value(holder.title)} (id {holder.id})")

    def _locate_blocker(self, holder: Any) -> str | None:
        """Return where the rejected article is that might have given the holder of a slug another one, or None."""
        if blocker := self.blockers.get(holder.pk):
            return self.spool.read(blocker.entry).where
        return self.spool.rejected_by_id.get(holder.id)

    def _reject(self, article: PlannedArticle, reason: str, field: str, value: str, other: str = "") -> None:
        article.decision = Decision.REJECT
        if article.vacates_slug:
            self.blockers[article.stored_pk] = article
        self.report.reject(Mistake(self.spool.read(article.entry).where, reason, field, value, other))


def _is_same_blog(first_id: str, second_id: str) -> bool:
    """Return whether two ids are from the same WordPress blog."""
    first = WORDPRESS_ID.fullmatch(first_id)
    second = WORDPRESS_ID.fullmatch(second_id)
    return first is not None and second is not None and first[1] == second[1]
