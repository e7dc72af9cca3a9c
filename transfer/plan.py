"""Decide which stored article each imported one replaces, whatever the order of the articles.

Ids and slugs decide. The content is read only for the few articles whose id and slug leave it open.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from converters.records import Identity, Mistake
from models import Article, db
from storage.queries import BATCH_SIZE
from transfer.report import ImportReport
from transfer.spool import MAX_TITLE_LENGTH, Outcome, Spool, SpoolEntry

GENERATED_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # a UUID, as the import generates it
WORDPRESS_ID = re.compile(r"(wordpress-.+)-[0-9]+")  # Ids of version 1.2.1 lack the blog.
LONG_TITLE = f"Must be at most {MAX_TITLE_LENGTH} characters long."

T = TypeVar("T")


def plan_import(
    customer_id: int, spool: Spool, report: ImportReport, is_same: Callable[[SpoolEntry], bool]
) -> list[SpoolEntry]:
    """Return the articles to write, each with the stored article that it replaces.

    An article whose slug another stored article keeps is rejected. `is_same` returns whether the two have the same
    content: an article from WordPress or Ghost then needs no change.
    """
    plan = _Plan(customer_id, spool, report, is_same)
    plan.find_stored()
    plan.match_by_slug()
    plan.reject_long_titles()
    plan.resolve_slugs()
    return plan.entries


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists of as many items as should be in memory at a time."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH_SIZE)):
        yield batch


class _Plan:
    """The plan of one import."""

    def __init__(
        self, customer_id: int, spool: Spool, report: ImportReport, is_same: Callable[[SpoolEntry], bool]
    ) -> None:
        self.customer_id = customer_id
        self.spool = spool
        self.report = report
        self.is_same = is_same

    @property
    def entries(self) -> list[SpoolEntry]:
        """The articles that have not been rejected."""
        return [entry for entry in self.spool.entries if entry.outcome is not Outcome.REJECTED]

    def find_stored(self) -> None:
        """Find the stored articles that have the ids and the slugs of the imported ones."""
        for batch in batches(self.spool.entries):
            by_id = {entry.id: entry for entry in batch if entry.id}
            for pk, article_id in self._select(Article.id, by_id):
                by_id[article_id].stored_pk = pk
            by_slug = {entry.slug: entry for entry in batch}
            for pk, slug in self._select(Article.slug, by_slug):
                by_slug[slug].holder_pk = pk

    def _select(self, column: InstrumentedAttribute[str], values: Iterable[str]) -> Any:
        own = Article.customer_id == self.customer_id
        return db.session.execute(select(Article.pk, column).where(own, column.in_(values)))

    def match_by_slug(self) -> None:
        """Match each article whose id is not stored with the holder of its slug.

        The holder of a slug is the stored article that has it, unless the import gives that article another slug.
        """
        leaving = self._leaving()
        unmatched = (entry for entry in self.entries if entry.holder_pk and not entry.stored_pk)
        for batch in batches(entry for entry in unmatched if entry.holder_pk not in leaving):
            holders = self._load_holders(batch)
            for entry in batch:
                if self._is_match(entry, holders[entry.holder_pk]):
                    entry.stored_pk = entry.holder_pk

    def _leaving(self) -> set[int | None]:
        """Return the pks of the stored articles that get another slug."""
        return {entry.stored_pk for entry in self.entries if entry.changes_slug}

    def _load_holders(self, batch: list[SpoolEntry]) -> dict[int | None, Any]:
        """Return id, title and published_at of the stored articles that have the slugs of a batch, by pk."""
        columns = Article.pk, Article.id, Article.title, Article.published_at
        pks = [entry.holder_pk for entry in batch]
        return {row.pk: row for row in db.session.execute(select(*columns).where(Article.pk.in_(pks)))}

    def _is_match(self, entry: SpoolEntry, holder: Any) -> bool:
        """Return whether the stored article that has an article's slug is the same article.

        | Identity | If the article's id is not stored, it is the holder of its slug if …            |
        |----------|---------------------------------------------------------------------------------|
        | SLUG     | (always)                                                                        |
        | ID       | it has no id                                                                    |
        | SOURCE   | it has no usable id, and the holder's was generated here; or the holder is a    |
        |          | deleted post of the same blog, or the same post as version 1.2.1 stored it      |
        """
        if entry.identity is Identity.SLUG:
            return True
        if entry.identity is Identity.ID:
            return not entry.id
        if not entry.id:
            return bool(GENERATED_ID.fullmatch(holder.id))
        return self._is_rewritten(entry, holder) or self._is_from_version_1_2_1(entry, holder)

    def _is_rewritten(self, entry: SpoolEntry, holder: Any) -> bool:
        """Return whether a WordPress post was deleted, and rewritten under the same slug."""
        blog = WORDPRESS_ID.fullmatch(entry.id)
        old_blog = WORDPRESS_ID.fullmatch(holder.id)
        is_same_blog = blog is not None and old_blog is not None and blog[1] == old_blog[1]
        return is_same_blog and not self.spool.has_id(holder.id)

    def _is_from_version_1_2_1(self, entry: SpoolEntry, holder: Any) -> bool:
        """Return whether this is an article that version 1.2.1 stored under an id that did not contain the blog."""
        article = self.spool.read(entry)
        return (article.former_id, article.row.get("published_at")) == (holder.id, holder.published_at)

    def reject_long_titles(self) -> None:
        """Reject titles that are too long, unless they are stored already."""
        for entry in self.spool.long_titles:
            title = self.spool.read(entry).row["title"]
            stored = db.session.get(Article, entry.stored_pk) if entry.stored_pk else None
            if not stored or stored.title != title:
                self._reject(entry, Mistake(self._where(entry), LONG_TITLE, "title", title))

    def resolve_slugs(self) -> None:
        """Reject each article whose slug another stored article keeps.

        The stored version of a rejected article keeps its slug too, so the article that would take it is rejected next.
        """
        leaving = self._leaving()
        # articles that take over the slug of a stored one, by the pk of that one
        takers = {entry.holder_pk: entry for entry in self.entries if entry.holder_pk != entry.stored_pk}
        takers.pop(None, None)  # slugs that no stored article has
        for first in list(takers.values()):
            entry: SpoolEntry | None = first
            rejected: SpoolEntry | None = None  # whose stored version keeps the slug of `entry`
            while entry and self._has_conflict(entry, leaving):
                if self._is_stored_elsewhere(entry):
                    entry.stored_pk = entry.holder_pk
                    entry.outcome = Outcome.STORED_ELSEWHERE
                    break
                self._reject_conflict(entry, rejected)
                leaving.discard(entry.stored_pk)
                rejected = entry
                entry = takers.get(entry.stored_pk)

    def _has_conflict(self, entry: SpoolEntry, leaving: set[int | None]) -> bool:
        """Return whether another stored article keeps an article's slug."""
        is_own_slug = entry.holder_pk == entry.stored_pk
        return entry.outcome is not Outcome.REJECTED and not is_own_slug and entry.holder_pk not in leaving

    def _is_stored_elsewhere(self, entry: SpoolEntry) -> bool:
        """Return whether a new article from WordPress or Ghost has the same content as the stored one with its slug."""
        return entry.identity is Identity.SOURCE and not entry.stored_pk and self.is_same(entry)

    def _reject_conflict(self, entry: SpoolEntry, rejected: SpoolEntry | None) -> None:
        """Reject an article because of its slug. `rejected` is the article that was to leave it to this one, if any."""
        if rejected:
            reason = f"Remains the slug of {self._where(rejected)}, which is invalid. Correct that one first."
            self._reject(entry, Mistake(self._where(entry), reason, "slug", entry.slug))
            return
        if entry.identity is Identity.SOURCE:
            hint = "Edit its slug or delete it (flask articles edit, flask articles delete), or use another --customer."
        elif entry.stored_pk:
            hint = "Choose another slug."
        else:
            hint = "Choose another slug. To replace that article instead, give this one the same id, or none."
        holder = self._load_holders([entry])[entry.holder_pk]
        reason = f"Already has this slug. {hint}"
        self._reject(entry, Mistake(self._where(entry), reason, "slug", f"{holder.title} ({holder.id})"))

    def _where(self, entry: SpoolEntry) -> str:
        return self.spool.read(entry).where

    def _reject(self, entry: SpoolEntry, mistake: Mistake) -> None:
        entry.outcome = Outcome.REJECTED
        self.report.reject(mistake)
