"""Match each imported article to a stored one.

Articles of other systems are found by their origins. For example, a folder is imported again:

| file            | before    | result                                                                              |
|-----------------|-----------|-------------------------------------------------------------------------------------|
| spring.md       | spring.md | the same article: it has the same origin, `markdown/spring`                         |
| archive/soup.md | soup.md   | the same article, moved, if slug and title are the same                             |
| party.md        | party.md  | another article, if title, date and text differ: it is left alone                   |
| opening.md      | (none)    | a new article: it is left alone if its slug is taken, unless --take-over names that |
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from sqlalchemy import select

from content.urls import remove_urls
from converters.articles import ImportProblem
from models import UNKNOWN_ORIGIN, Article, db
from transfer.notes import ORIGIN_OCCUPIED
from transfer.planned import PlannedArticle, StoredArticle
from transfer.report import ImportReport, show_value
from transfer.spool import Spool, SpoolEntry

ORIGIN_TAKEN = "Already belongs to the stored article {}, which this import matches by id. Remove the origin."
STORED_ELSEWHERE = "Cannot be taken over: the source's article with this slug is stored as {}. Delete that one first."


def match_articles(
    spool: Spool, stored: list[StoredArticle], take_over: Iterable[str], report: ImportReport
) -> list[PlannedArticle]:
    """Return the valid articles of an import, each with the stored one that it matches, if any.

    `take_over` has slugs of stored articles, and sources with a final slash. Problems in it go to the report.
    """
    matcher = _Matcher(spool, stored, report)
    # The most certain matches come first. Steps 1 to 4 and 6 look only at what is still unmatched.
    # 1. Formats of this service name the stored article.
    matcher.match_own_articles()
    # 2. Origins are certain, except that a path or a slug may be another article's now.
    matcher.match_origins()
    # 3. Ids that were assigned before 3.0.0 contain the post's number, so they are just as reliable.
    matcher.adopt_by_id()
    # 4. An unmatched article may have moved, so that its old origin is free.
    matcher.match_moved()
    # 5. After the moves, an origin that is still taken is another article's. Moves to it are undone.
    matcher.leave_other_articles()
    # 6. The slug of an article that was stored before 3.0.0 is the least certain.
    matcher.adopt_by_slug()
    # 7. The operator decides about articles that are new, left alone, or matched but edited here.
    for name in take_over:
        if name.endswith("/"):
            matcher.take_over_source(name.removesuffix("/"))
        else:
            matcher.take_over_slug(name)
    return matcher.articles


class _Matcher:
    """The matching of one import. No two of its articles get the same stored one."""

    def __init__(self, spool: Spool, stored: list[StoredArticle], report: ImportReport) -> None:
        self.spool = spool
        self.report = report
        self.articles = [PlannedArticle(entry, entry.slug) for entry in spool.entries]
        self.own_articles = [article for article in self.articles if not article.entry.source]
        from_sources = (article for article in self.articles if article.entry.source)
        self.from_sources = sorted(from_sources, key=lambda article: article.entry.sort_date)
        self.stored = stored
        self.by_id = {article.id: article for article in stored}
        self.by_slug = {article.slug: article for article in stored}
        self.by_origin = {article.origin: article for article in stored if article.source}
        self.matched: dict[int, PlannedArticle] = {}  # by the pk of the stored article

    def match_own_articles(self) -> None:
        """Match articles in formats of this service: by id, by origin, and by slug if there is no id."""
        for article in self.own_articles:
            self._match(article, self.by_id.get(article.entry.id))
        for article in self.own_articles:
            self._match(article, self.by_origin.get(article.entry.origin))
        for article in self.own_articles:
            holder = self.by_slug.get(article.entry.slug)
            # An article with the holder's id may have been rejected because of a problem.
            is_rejected = holder and ("id", holder.id) in self.spool.rejected
            if (not article.entry.id or article.entry.may_match_slug) and not is_rejected:
                self._match(article, holder)
        for article in self.own_articles:
            self._reject_taken_origin(article)

    def match_origins(self) -> None:
        """Match the articles of other systems by their origins, unless these have become other articles."""
        for article in self.from_sources:
            self._reject_taken_origin(article)  # An own article of the same import may be the stored one.
            self._match_unless_other(article, self.by_origin.get(article.entry.origin))

    def adopt_by_id(self) -> None:
        """Match articles that were stored with the ids of WordPress and Ghost before 3.0.0."""
        for article in self._unmatched():
            self._adopt(article, self.by_id.get(article.entry.id))

    def match_moved(self) -> None:
        """Match articles that have moved: whose stored origin the import lacks, or has for another article.

        In systems with numbers, a post that was deleted and written again has another number, but the same slug. Files
        and rows are moved and renamed, but keep their titles, and their dates or slugs.
        """
        unmatched_stored = [
            stored
            for stored in self.stored
            if stored.pk not in self.matched and ("origin", stored.origin) not in self.spool.rejected
        ]
        by_place = _unique_by(unmatched_stored, lambda stored: (stored.source, stored.title, stored.source_date))
        moved = _unique_by(self._unmatched(), lambda new: (new.entry.source, new.entry.title, new.entry.date))
        for place, article in moved.items():
            if article.entry.has_reusable_key and article.entry.date:
                self._match(article, by_place.get(place))
        by_slug = {(stored.source, stored.slug): stored for stored in unmatched_stored}
        for article in self._unmatched():
            for slug in (article.entry.dated_slug, article.entry.slug):
                candidate = by_slug.get((article.entry.source, slug))
                if candidate and (not article.entry.has_reusable_key or candidate.title == article.entry.title):
                    self._match(article, candidate)

    def leave_other_articles(self) -> None:
        """Leave an article alone if its origin is that of another stored article that has not moved.

        Nor can a stored article move to such an origin. If b.md moved to a.md, where another article stays, the move is
        undone. Then the article of b.md stays too, so the move of c.md to b.md is undone, and so on.
        """
        while blocked := [
            pk for pk, article in self.matched.items() if article.entry.source and self._find_occupant(article)
        ]:
            for pk in blocked:
                self.matched.pop(pk).stored = None
        for article in self._unmatched():
            if occupant := self._find_occupant(article):
                self._match(article, occupant)
                article.left_alone = ORIGIN_OCCUPIED

    def adopt_by_slug(self) -> None:
        """Match articles that were stored before 3.0.0, by their slugs and either date or title."""
        candidates = [
            (article, self.by_slug[article.entry.slug])
            for article in self._unmatched()
            if article.entry.slug in self.by_slug and ("slug", article.entry.slug) not in self.spool.rejected
        ]
        for article, holder in candidates:
            if article.entry.date and holder.publication.published_at == article.entry.date:
                self._adopt(article, holder)
        for article, holder in candidates:
            if holder.title == article.entry.title:
                self._adopt(article, holder)

    def take_over_source(self, source: str) -> None:
        """Match articles with the stored ones of another source: files and rows by key, then by slug.

        Posts are matched by slug, then by number and title, since a new blog may number them differently.
        """
        by_slug = {article.slug: article for article in self.stored if article.source == source}
        if not by_slug:
            self._refuse_to_take_over(f"{source}/", "Is not the source of any stored article. Check its name.")
        self._match_slugs([article for article in self._unmatched() if not article.entry.has_reusable_key], by_slug)
        for article in self._unmatched():
            key = article.entry.origin.removeprefix(f"{article.entry.source}/")
            stored = self.by_origin.get(f"{source}/{key}")
            if stored and (article.entry.has_reusable_key or stored.title == article.entry.title):
                self._match_unless_other(article, stored)
        self._match_slugs(self._unmatched(), by_slug)

    def take_over_slug(self, slug: str) -> None:
        """Match the stored article with this slug, even if it was edited here, and give its text to the source.

        If it is already matched, keep that match. Otherwise, use the oldest new article with this slug.
        """
        holder = self.by_slug.get(slug)
        if not holder:
            self._refuse_to_take_over(slug, "Is not the slug of any stored article. Check it.")
            return
        candidates = [article for article in self.from_sources if article.entry.slug == slug]
        candidates += [article for article in self.from_sources if article.entry.dated_slug == slug]
        matched = next((article for article in self.from_sources if article.stored is holder), None)
        new = next((article for article in candidates if not article.stored), None)
        elsewhere = next((article.stored for article in candidates if article.stored), None)
        if article := matched or new:
            self._match(article, holder)
            article.is_taken_over = True
            article.left_alone = None
        elif elsewhere:
            self._refuse_to_take_over(slug, STORED_ELSEWHERE, show_value(elsewhere.slug))
        else:
            reason = "Is not the slug of any article that this import has from another system. Check it."
            self._refuse_to_take_over(slug, reason)

    def _unmatched(self) -> list[PlannedArticle]:
        """Return the unmatched articles of other systems, the oldest first."""
        return [article for article in self.from_sources if not article.stored]

    def _match(self, article: PlannedArticle, stored: StoredArticle | None) -> None:
        if stored and not article.stored and stored.pk not in self.matched:
            article.stored = stored
            self.matched[stored.pk] = article

    def _match_slugs(self, articles: Iterable[PlannedArticle], by_slug: dict[str, StoredArticle]) -> None:
        for article in articles:
            for slug in (article.entry.dated_slug, article.entry.slug):
                self._match_unless_other(article, by_slug.get(slug))

    def _match_unless_other(self, article: PlannedArticle, stored: StoredArticle | None) -> None:
        if stored and not self._is_other_article(article.entry, stored):
            self._match(article, stored)

    def _adopt(self, article: PlannedArticle, stored: StoredArticle | None) -> None:
        if stored and stored.origin == UNKNOWN_ORIGIN:
            self._match(article, stored)

    def _find_occupant(self, article: PlannedArticle) -> StoredArticle | None:
        """Return the stored article with the origin of this one, unless that is the same article or has moved."""
        holder = self.by_origin.get(article.entry.origin)
        return holder if holder and holder.pk not in self.matched else None

    def _is_other_article(self, entry: SpoolEntry, stored: StoredArticle) -> bool:
        """Return whether an article with a reusable key is another one, such as a post of the same name a year later.

        If the stored one was edited here, its title and text say nothing about the source.
        """
        if not entry.has_reusable_key or stored.edited or entry.title == stored.title:
            return False
        if not entry.date or not stored.source_date or entry.date == stored.source_date:
            return False
        text = db.session.scalar(select(Article.content_html).where(Article.pk == stored.pk))
        return remove_urls(self.spool.read(entry).row["content_html"]) != remove_urls(text or "")

    def _reject_taken_origin(self, article: PlannedArticle) -> None:
        """Reject an unmatched article if the stored article with its origin is another one of the import."""
        holder = self.by_origin.get(article.entry.origin)
        if holder and holder.pk in self.matched and not article.stored:
            article.reject(ORIGIN_TAKEN, "origin", article.entry.origin, show_value(holder.slug))

    def _refuse_to_take_over(self, value: str, reason: str, other: str = "") -> None:
        self.report.stop(ImportProblem("--take-over", reason, value=value, other=other))


def _unique_by(items: Iterable[Any], key: Callable[[Any], Hashable]) -> dict[Hashable, Any]:
    """Map each key that occurs once to its item."""
    groups: defaultdict[Hashable, list[Any]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {key: group[0] for key, group in groups.items() if len(group) == 1}
