"""Write imported articles that are new or differ from the stored ones."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice

from marshmallow import ValidationError
from sqlalchemy import insert, select, update

from content.structured_data import canonical_row
from converters.records import Mistake, Note, SourceArticle
from fields import truncate_to_milliseconds
from models import Article, Customer, db, publication_state
from schemas import ArticleImportSchema
from storage.queries import BATCH_SIZE, PUBLISHED
from transfer.identity import Incoming, StoredArticles, has_same_origin, replaces_other_source, slug_conflict
from transfer.redirects import Redirects
from transfer.report import ImportReport, explain, show
from transfer.rows import Row, RowBuilder, has_same_content

FIELD_NAMES = {name: field.data_key or name for name, field in ArticleImportSchema().fields.items()}
REPLACED = Note("Replaced articles that came from another source")
EMPTIED = Note("Articles that lost their content, because the source has none")
STILL_DRAFT = Note("Still drafts", advice="Publish them with flask articles publish.")


def save_articles(
    customer: Customer,
    articles: Iterable[SourceArticle],
    report: ImportReport,
    *,
    unpublish_missing: bool = False,
    skip_invalid: bool = False,
    redirects: Redirects | None = None,
) -> Counter[str]:
    """Write an import's articles in the session's transaction, which the caller begins and ends.

    Only one batch is in memory at a time. With `unpublish_missing`, the sources decide what is published: the
    customer's other published articles become drafts, and a draft that arrives with a date but no status is published
    again. With `skip_invalid`, valid articles are written even if others are invalid. The old URLs of written articles
    go to `redirects`.

    Returns the number of articles that are "new", "changed", "unchanged" and "unpublished", and of new ones by state
    (see `publication_state`). Raises ImportFailedError if there are mistakes; the caller must then roll back.
    """
    now = truncate_to_milliseconds(datetime.now(UTC))
    rows = RowBuilder(customer.id, customer.name, now, publish_dated=unpublish_missing)
    writer = ArticleWriter(rows, report, redirects, swap_slugs=not skip_invalid)
    for batch in _batches(_load_articles(articles, report)):
        writer.write(batch)
    for batch in _batches(writer.deferred):
        writer.write_deferred(batch)
    writer.reject_taken_slugs()
    if unpublish_missing:
        writer.unpublish_missing()
    valid = sum(writer.counts[name] for name in ("new", "changed", "unchanged")) - len(writer.evicted)
    can_skip = valid > 0 and not unpublish_missing
    report.raise_if_mistakes(can_skip=can_skip, skip_invalid=skip_invalid)
    return writer.counts


def _batches(articles: Iterable[Incoming]) -> Iterator[list[Incoming]]:
    iterator = iter(articles)
    while batch := list(islice(iterator, BATCH_SIZE)):
        yield batch


def _load_articles(articles: Iterable[SourceArticle], report: ImportReport) -> Iterator[Incoming]:
    """Yield the valid articles, and report the mistakes in the others."""
    schema = ArticleImportSchema()
    for article in articles:
        given: Row = {}
        messages: dict[str, list[str]] = {}
        try:
            given = schema.load(article.fields)
        except ValidationError as error:
            messages = error.messages_dict
        if messages or article.mistakes:
            report.reject(*explain(article, messages))
        else:
            yield Incoming(f"{article.where}, slug {show.repr(given['slug'])}", article, given)


class ArticleWriter:
    """An import of one customer's articles."""

    def __init__(
        self, rows: RowBuilder, report: ImportReport, redirects: Redirects | None, *, swap_slugs: bool
    ) -> None:
        self.rows, self.report, self.redirects, self.swap_slugs = rows, report, redirects, swap_slugs
        self.counts: Counter[str] = Counter()
        # where each article was found, by id and by slug
        self.seen: dict[str, dict[str, str]] = {"id": {}, "slug": {}}
        # WordPress or Ghost articles whose slug a stored article with another id holds
        self.deferred: list[Incoming] = []
        # stored articles that lost their slug to an imported one, by id: a mistake unless the import renames them
        self.evicted: dict[str, Mistake] = {}
        # rows of the current batch
        self.new: list[Row] = []
        self.changed: list[Row] = []

    def write(self, batch: list[Incoming]) -> None:
        """Write the new and changed articles of a batch.

        A WordPress or Ghost article with an unknown id may find its slug taken. Such articles are deferred, because the
        same export may give the current holder another slug later on.
        """
        stored = self._load_stored(batch)
        for incoming in batch:
            if self._reject_duplicate(incoming.where, incoming.keys):
                continue
            existing = stored.find(incoming)
            if not existing and incoming.has_source_id and stored.holder(incoming):
                self.deferred.append(incoming)
            else:
                self._add(incoming, existing, stored)
        self._write_rows()

    def write_deferred(self, batch: list[Incoming]) -> None:
        """Write WordPress and Ghost articles whose slug was taken.

        If an article of the same origin still holds the slug, the author deleted that post and wrote a new one, which
        replaces it. If an article of another origin holds it, that is a mistake unless both have the same content.
        """
        stored = self._load_stored(batch)
        for incoming in batch:
            holder = stored.holder(incoming)
            if not holder or has_same_origin(incoming, holder):
                self._add(incoming, holder, stored)
            elif has_same_content(self.rows.complete(incoming.given, holder), holder):
                self._count_unchanged(incoming, holder)
            else:
                self.report.reject(slug_conflict(incoming, holder))
        self._write_rows()

    def _load_stored(self, batch: list[Incoming]) -> StoredArticles:
        """Return the stored articles that have any of the ids and slugs of a batch."""
        pks = select(Article.pk).where(Article.customer_id == self.rows.customer_id)
        same_ids = pks.where(Article.id.in_([incoming.given["id"] for incoming in batch if "id" in incoming.given]))
        same_slugs = pks.where(Article.slug.in_([incoming.slug for incoming in batch]))
        # a union, because SQLite would scan all of the customer's articles for "or"
        same = select(Article.__table__).where(Article.pk.in_(same_ids.union(same_slugs)))
        return StoredArticles(canonical_row(row, self.rows.publisher) for row in db.session.execute(same).mappings())

    def _reject_duplicate(self, where: str, keys: dict[str, str]) -> bool:
        """Reject an article if an earlier one of the import has this id or slug. Return whether it was rejected."""
        for field, value in keys.items():
            if value in self.seen[field]:
                reason = f"The {field} {value!r} belongs to an earlier article, {self.seen[field][value]}."
                self.report.reject(Mistake(where, f"{reason} Remove one of the two, or change its {field}."))
                return True
        for field, value in keys.items():
            self.seen[field][value] = where
        return False

    def _add(self, incoming: Incoming, existing: Row | None, stored: StoredArticles) -> None:
        """Add an article to the new, changed or unchanged ones. `existing` is its stored row or None."""
        found_by_slug = {"id": existing["id"]} if existing and existing["id"] != incoming.given.get("id") else {}
        if self._reject_duplicate(incoming.where, found_by_slug):
            return
        row, holder = self.rows.complete(incoming.given, existing), stored.holder(incoming)
        if existing and all(existing[name] == value for name, value in row.items()):
            self._count_unchanged(incoming, existing)
            return
        if holder and holder["id"] != row["id"]:
            conflict = slug_conflict(incoming, holder)
            if not self.swap_slugs:
                self.report.reject(conflict)
                return
            self._evict(holder, conflict)
            stored.release_slug(holder)
        self._accept(incoming, row["id"])
        self._note(incoming, row, existing)
        if existing:
            self.evicted.pop(existing["id"], None)
            self.changed.append({"pk": existing["pk"], **row})
            stored.release_slug(existing)
        else:
            self.new.append(row)

    def _evict(self, holder: Row, conflict: Mistake) -> None:
        """Replace a stored article's slug by a placeholder with a space, which no real slug contains."""
        self.evicted[holder["id"]] = conflict
        db.session.execute(update(Article), [{"pk": holder["pk"], "slug": f" {holder['id']}"}])

    def _count_unchanged(self, incoming: Incoming, stored: Row) -> None:
        self.counts["unchanged"] += 1
        self._accept(incoming, stored["id"])

    def _accept(self, incoming: Incoming, article_id: str) -> None:
        """Record that an article is, or will be, stored."""
        self.seen["id"].setdefault(article_id, incoming.where)
        if self.redirects:
            self.redirects.add(incoming.article.old_urls, incoming.slug)

    def _note(self, incoming: Incoming, row: Row, stored: Row | None) -> None:
        """Report a new or changed article."""
        self.report.describe(incoming.article, row)
        if not stored:
            self.counts[publication_state(row["status"], row["published_at"], self.rows.now)] += 1
            self.report.note_change(incoming.slug, [])
            return
        if replaces_other_source(incoming, stored):
            self.report.noticeable[REPLACED].append(incoming.slug)
        if stored["content_html"] and not row["content_html"]:
            self.report.noticeable[EMPTIED].append(incoming.slug)
        if row["status"] == "draft" and row["published_at"] and "status" not in incoming.given:
            self.report.noticeable[STILL_DRAFT].append(incoming.slug)
        names = [name for column, name in FIELD_NAMES.items() if stored[column] != row[column]]
        content = [name for name in names if name != "updatedAt"]  # moves with any other field
        self.report.note_change(incoming.slug, content or names or ["search index"])

    def _write_rows(self) -> None:
        """Write the batch: changed articles in order, since one may free a slug for the next, then the new ones."""
        if self.changed:
            db.session.execute(update(Article), self.changed)
        if self.new:
            db.session.execute(insert(Article), self.new)
        self.counts.update(new=len(self.new), changed=len(self.changed))
        self.new, self.changed = [], []

    def reject_taken_slugs(self) -> None:
        """Report the articles that took the slug of a stored one that the import does not rename."""
        for conflict in self.evicted.values():
            self.report.reject(conflict)

    def unpublish_missing(self) -> None:
        """Turn the customer's published articles into drafts if the sources lack them.

        Sources without any article are a mistake, probably a failed export.
        """
        if not self.seen["id"] and not self.report.mistakes:
            reason = "They contain no articles, so --unpublish-missing would unpublish everything. Check them."
            self.report.add(Mistake("the sources", reason))
        published = select(Article.pk, Article.id, Article.slug).where(*PUBLISHED).order_by(Article.id)
        parameters = {"customer_id": self.rows.customer_id, "now": self.rows.now}
        missing = [row for row in db.session.execute(published, parameters) if row.id not in self.seen["id"]]
        if missing:
            db.session.execute(update(Article), [{"pk": row.pk, "status": "draft"} for row in missing])
        for row in missing:
            self.report.note_change(row.slug, ["status"])
        self.counts["unpublished"] = len(missing)
