"""Find the stored article that each article of an import is.

Articles of other systems are found by their origins. Suppose a folder was imported before, and these are stored:

| origin                      | slug       | title        |
|-----------------------------|------------|--------------|
| markdown/2026-03-01-spring  | spring     | Spring menu  |
| markdown/soup               | soup       | Our soups    |
| (none: written here)        | opening    | We open      |

Now the folder contains `2026-03-01-spring.md`, `archive/soup.md` and `opening.md`. The first one is found by its
origin. The origin of the second one is not stored; but the import lacks `markdown/soup`, which has the same title and
slug, so the file was moved, and the stored article gets the new origin. The third one is a new article. It is left
alone, because its slug belongs to an article without a source (`transfer.slugs`), unless --take-over names the slug.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select

from converters.records import Mistake, Note, Origin
from models import UNKNOWN_ORIGIN, Article, db
from transfer.notes import OTHER_ARTICLE
from transfer.origins import source_of
from transfer.publication import Publication
from transfer.report import ImportReport, show_value
from transfer.spool import Spool, SpoolEntry

ORIGIN_TAKEN = "Already belongs to the stored article {}, which this import has under its id. Remove the origin."


@dataclass(slots=True, eq=False, frozen=True)
class StoredArticle:
    """What the plan needs to know about a stored article."""

    pk: int
    id: str
    slug: str
    title: str
    publication: Publication
    origin: str | None
    edited: bool

    @property
    def source_date(self) -> datetime | None:
        """The date that its source gave it, as far as that is known."""
        return self.publication.claimed_at or self.publication.published_at


@dataclass(slots=True, eq=False)
class PlannedArticle:
    """A valid article of an import, and what is to happen with it."""

    entry: SpoolEntry
    slug: str = field(init=False)  # that it will have; a stored one may keep its own
    stored: StoredArticle | None = None
    is_taken_over: bool = False  # the stored article is given to the source, with its text
    left_alone: Note | None = None  # why nothing of it is written
    lost_slug: str = ""  # that another article keeps, so this one keeps its own
    is_rejected: bool = False
    publication: Publication = field(init=False)

    def __post_init__(self) -> None:
        self.slug = self.entry.slug
        self.publication = Publication("pending", None)  # until it is decided

    @property
    def keeps_text(self) -> bool:
        """Whether everything but the publication stays as it was edited here."""
        return bool(self.stored and self.stored.edited and self.entry.source and not self.is_taken_over)

    @property
    def is_adopted(self) -> bool:
        """Whether a stored article from before there were origins gets one."""
        return bool(self.stored and self.entry.source and self.stored.origin == UNKNOWN_ORIGIN)


def load_stored(customer_id: int) -> list[StoredArticle]:
    """Load what matching and planning need to know about a customer's stored articles, ordered by slug."""
    columns = Article.pk, Article.id, Article.slug, Article.title, Article.origin, Article.edited
    publication = Article.status, Article.published_at, Article.claim, Article.claimed_at
    rows = db.session.execute(
        select(*columns, *publication).where(Article.customer_id == customer_id).order_by(Article.slug)
    )
    return [
        StoredArticle(pk, id, slug, title, Publication(*rest), origin, bool(edited))
        for pk, id, slug, title, origin, edited, *rest in rows
    ]


def match_articles(
    spool: Spool,
    stored: list[StoredArticle],
    take_over: Iterable[str],
    report: ImportReport,
) -> list[PlannedArticle]:
    """Return the valid articles of an import, each with the stored one that it is, if any.

    `take_over` has slugs of stored articles, and sources with a final slash. Mistakes in it go to the report.
    """
    matcher = _Matcher(spool, stored, report)
    matcher.match_records()
    matcher.match_origins()
    matcher.adopt_by_id()
    matcher.match_moved()
    matcher.leave_other_articles()
    matcher.adopt_by_slug()
    for given in take_over:
        if given.endswith("/"):
            matcher.take_over_source(given.removesuffix("/"))
        else:
            matcher.take_over_slug(given)
    return matcher.articles


class _Matcher:
    """The matching of one import. No two of its articles get the same stored one."""

    def __init__(self, spool: Spool, stored: list[StoredArticle], report: ImportReport) -> None:
        self.spool = spool
        self.report = report
        self.articles = [PlannedArticle(entry) for entry in spool.entries]
        self.stored = stored
        self.by_id = {article.id: article for article in stored}
        self.by_slug = {article.slug: article for article in stored}
        self.by_origin = {article.origin: article for article in stored}
        self.matched: set[int] = set()  # pks

    def match_records(self) -> None:
        """Match records in formats of this service: by id, by origin, and by slug if there is no id."""
        records = [article for article in self.articles if not article.entry.source]
        for article in records:
            self._match(article, self.by_id.get(article.entry.id))
        for article in records:
            if article.entry.origin != UNKNOWN_ORIGIN:
                self._match(article, self.by_origin.get(article.entry.origin))
        for article in records:
            holder = self.by_slug.get(article.entry.slug)
            # A record with the holder's id may have been rejected because of a mistake.
            if (not article.entry.id or article.entry.may_match_slug) and not self._is_rejected(holder):
                self._match(article, holder)
        for article in records:
            if not article.stored:
                self._reject_origin_of(self.by_origin.get(article.entry.origin), article)

    def match_origins(self) -> None:
        """Match the articles of other systems by their origins, unless these have become other articles."""
        for article in self._from_sources():
            stored = self.by_origin.get(article.entry.origin)
            if stored and stored.pk in self.matched:  # by a record in the same import
                self._reject_origin_of(stored, article)
            self._match_unless_other(article, stored)

    def adopt_by_id(self) -> None:
        """Match articles that were stored with the ids of WordPress and Ghost before there were origins."""
        for article in self._unmatched():
            self._adopt(article, self.by_id.get(article.entry.id))

    def match_moved(self) -> None:
        """Match articles that have moved: whose stored origin the import lacks, or has for another article.

        Systems with numbers give a post that is deleted and written anew another number, but the same slug. Files and
        rows are moved and renamed, but keep their titles, and their dates or slugs.
        """
        in_import = self.spool.rejected["origin"]
        movable = [stored for stored in self.stored if stored.pk not in self.matched and stored.origin not in in_import]
        by_slug = {(source_of(stored.origin), stored.slug): stored for stored in movable}
        by_title_and_date: defaultdict[Any, list[StoredArticle]] = defaultdict(list)
        for stored in movable:
            by_title_and_date[source_of(stored.origin), stored.title, stored.source_date].append(stored)
        unmatched = self._unmatched_by_age()
        count = Counter((origin.source, article.entry.title, article.entry.date) for article, origin in unmatched)
        for article, origin in unmatched:
            place = origin.source, article.entry.title, article.entry.date
            candidates = by_title_and_date[place]
            if origin.has_named_key and article.entry.date and len(candidates) == count[place] == 1:
                self._match(article, candidates[0])
        for article, origin in self._unmatched_by_age():
            for slug in (article.entry.dated_slug, article.entry.slug):
                candidate = by_slug.get((origin.source, slug))
                if candidate and (not origin.has_named_key or candidate.title == article.entry.title):
                    self._match(article, candidate)

    def leave_other_articles(self) -> None:
        """Leave articles alone whose path or slug was another article's, unless that one has moved.

        An article cannot move to such a place either. If that is undone, the place that it came from is taken again.
        """
        while blocked := list(filter(self._is_blocked, self._from_sources())):
            for article in blocked:
                self._undo_match(article)
        for article in self._unmatched():
            if self._has_taken_place(article):
                self._match(article, self.by_origin[article.entry.origin])
                article.left_alone = OTHER_ARTICLE

    def adopt_by_slug(self) -> None:
        """Match articles that were stored before there were origins, by their slugs and either date or title."""
        slugs = self.by_slug.keys() - self.spool.rejected["slug"].keys()
        with_holder = [article for article, _ in self._unmatched_by_age() if article.entry.slug in slugs]
        for article in with_holder:
            holder = self.by_slug[article.entry.slug]
            if article.entry.date and holder.publication.published_at == article.entry.date:
                self._adopt(article, holder)
        for article in with_holder:
            holder = self.by_slug[article.entry.slug]
            if holder.title == article.entry.title:
                self._adopt(article, holder)

    def take_over_source(self, source: str) -> None:
        """Give all stored articles of a source to those of the import that have the same key, or the same slug.

        Numbers may be other articles' in a new blog, so their titles must be the same too, and slugs come first.
        """
        candidates = [article for article in self.stored if source_of(article.origin) == source]
        if not candidates:
            self._refuse_to_take_over(f"{source}/", "Is not the source of any stored article. Check its name.")
        by_key = {str(article.origin)[len(source) + 1 :]: article for article in candidates}
        by_slug = {article.slug: article for article in candidates}
        for article, origin in self._unmatched_by_age():
            if not origin.has_named_key:
                self._match(article, by_slug.get(article.entry.dated_slug) or by_slug.get(article.entry.slug))
        for article, origin in self._unmatched_by_age():
            stored = by_key.get(origin.key)
            if stored and (origin.has_named_key or stored.title == article.entry.title):
                self._match_unless_other(article, stored)
        for article, _ in self._unmatched_by_age():
            self._match_unless_other(article, by_slug.get(article.entry.dated_slug))
            self._match_unless_other(article, by_slug.get(article.entry.slug))

    def take_over_slug(self, slug: str) -> None:
        """Give the stored article with a slug, and its text, to the source whose article it is or has that slug.

        Of several new articles with that slug, the oldest gets it, and of several stored ones, any is an error.
        """
        holder = self.by_slug.get(slug)
        unmatched = [article for article, _ in self._unmatched_by_age()]
        candidates = [
            *(article for article in self._from_sources() if holder and article.stored is holder),
            *(article for article in unmatched if article.entry.slug == slug),
            *(article for article in unmatched if article.entry.dated_slug == slug),
            *(article for article in self._from_sources() if article.entry.slug == slug),
        ]
        article = next(iter(candidates), None)
        if not article or not holder:
            whose = "article that this import has from another system" if holder else "stored article"
            self._refuse_to_take_over(slug, f"Is not the slug of any {whose}. Check it.")
        elif article.stored and article.stored is not holder:
            reason = "Cannot be taken over: the source's article with this slug is stored as {}. Delete that one first."
            self._refuse_to_take_over(slug, reason, show_value(article.stored.slug))
        else:
            self._match(article, holder)
            article.is_taken_over = True
            article.left_alone = None

    def _from_sources(self) -> list[PlannedArticle]:
        return [article for article in self.articles if article.entry.source]

    def _unmatched(self) -> list[PlannedArticle]:
        return [article for article in self._from_sources() if not article.stored]

    def _unmatched_by_age(self) -> list[tuple[PlannedArticle, Origin]]:
        """Return the unmatched articles with their origins, the oldest first."""
        unmatched = sorted(self._unmatched(), key=lambda article: article.entry.age)
        return [(article, article.entry.source) for article in unmatched if article.entry.source]

    def _match(self, article: PlannedArticle, stored: StoredArticle | None) -> None:
        if stored and not article.stored and stored.pk not in self.matched:
            article.stored = stored
            self.matched.add(stored.pk)

    def _match_unless_other(self, article: PlannedArticle, stored: StoredArticle | None) -> None:
        if stored and not self._is_other_article(article.entry, stored):
            self._match(article, stored)

    def _adopt(self, article: PlannedArticle, stored: StoredArticle | None) -> None:
        if stored and stored.origin == UNKNOWN_ORIGIN:
            self._match(article, stored)

    def _is_blocked(self, article: PlannedArticle) -> bool:
        """Return whether an article has moved to the place of a stored one that has not moved."""
        return article.stored is not None and self._has_taken_place(article)

    def _has_taken_place(self, article: PlannedArticle) -> bool:
        """Return whether a stored article that has not moved has the origin of this one."""
        holder = self.by_origin.get(article.entry.origin)
        return holder is not None and holder.pk not in self.matched

    def _undo_match(self, article: PlannedArticle) -> None:
        if article.stored:
            self.matched.discard(article.stored.pk)
            article.stored = None

    def _is_other_article(self, entry: SpoolEntry, stored: StoredArticle) -> bool:
        """Return whether an article with a named key is another one, such as a post of the same name a year later.

        If the stored one was edited here, its title and text say nothing about the source.
        """
        if not entry.source or not entry.source.has_named_key or stored.edited or entry.title == stored.title:
            return False
        have_dates = entry.date is not None and stored.source_date is not None
        return have_dates and entry.date != stored.source_date and not self._has_same_text(entry, stored)

    def _has_same_text(self, entry: SpoolEntry, stored: StoredArticle) -> bool:
        text = db.session.scalar(select(Article.content_html).where(Article.pk == stored.pk))
        return bool(self.spool.read(entry).row["content_html"] == text)

    def _reject_origin_of(self, holder: StoredArticle | None, article: PlannedArticle) -> None:
        """Reject a new record with the origin of a stored article, if any."""
        if holder and holder.origin != UNKNOWN_ORIGIN:
            article.is_rejected = True
            where = self.spool.read(article.entry).where
            self.report.reject(Mistake(where, ORIGIN_TAKEN, "origin", holder.origin, show_value(holder.slug)))

    def _is_rejected(self, stored: StoredArticle | None) -> bool:
        return stored is not None and stored.id in self.spool.rejected["id"]

    def _refuse_to_take_over(self, value: str, reason: str, other: str = "") -> None:
        self.report.stop(Mistake("--take-over", reason, value=value, other=other))
