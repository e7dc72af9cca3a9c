"""Write the articles of an import that are new or differ from the stored ones."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, insert, literal, select, update

from content.structured_data import Publisher
from converters.source_articles import SourceArticle
from models import Article, Customer, db, publication_state
from schemas import ArticleImportSchema
from storage.queries import BATCH_SIZE
from transfer.article_links import ArticleLinks
from transfer.checks import ArticleRow
from transfer.plan import ImportOptions, ImportPlan
from transfer.publication import stored_publication
from transfer.rows import RowBuilder

# fields whose changes are named
FIELD_NAMES = {name: field.data_key or name for name, field in ArticleImportSchema().fields.items()}
for _name in ("id", "source", "source_key"):  # an id never changes, and a new key is of no interest
    del FIELD_NAMES[_name]


@dataclass
class ImportResult:
    """The result of an import or, in a dry run, the result that it would have."""

    plan: ImportPlan
    links: ArticleLinks
    # "new", "changed", "unchanged", "unpublished", "left alone", and the states of new articles
    counts: Counter[str] = field(default_factory=Counter)
    changes: list[tuple[str, list[str]]] = field(default_factory=list)  # slugs of changed articles, and what changed
    new: list[str] = field(default_factory=list)  # slugs
    written: list[SourceArticle] = field(default_factory=list)  # new and changed
    has_changes: bool = False  # any, even if not counted, such as a new key
    stop_reasons: str = ""  # in a dry run, why the import would stop, one line per reason


def write_plan(customer: Customer, plan: ImportPlan, options: ImportOptions, links: ArticleLinks) -> ImportResult:
    """Carry out a plan in the session's transaction. A dry run only reads."""
    writer = _Writer(customer, plan, options, links)
    writer.withdraw()
    writer.free_slugs()
    articles = list(plan.slugs)
    for start in range(0, len(articles), BATCH_SIZE):
        writer.write(articles[start : start + BATCH_SIZE])
    return writer.result


class _Writer:
    """The writer of one import for one customer."""

    def __init__(self, customer: Customer, plan: ImportPlan, options: ImportOptions, links: ArticleLinks) -> None:
        self.result = ImportResult(plan, links, Counter({"left alone": len(plan.left_alone)}))
        self._plan = plan
        self._rows = RowBuilder(customer.id, Publisher(customer.name, customer.site), plan.now, options.takes_flags)
        self._dry_run = options.dry_run

    def withdraw(self) -> None:
        """Withdraw the stored articles that are missing from their sources, or withheld without their text."""
        rows = []
        for stored in self._plan.stored:
            before = stored_publication(stored)
            after = self._plan.withdrawn.get(stored.pk, before)
            if after != before:
                rows.append({"pk": stored.pk, **after._asdict()})
                self.result.counts["unpublished"] += 1
                self.result.changes.append((stored.slug, [f"status (now {after.status})"]))
        self._execute(update(Article), rows)

    def free_slugs(self) -> None:
        """Free the slugs that stored articles lose, so that others can take them in any order.

        Until the articles are written, their slugs are placeholders with a space, which no real slug contains.
        """
        slugs = self._plan.slugs
        matches = self._plan.matches.items()
        moving = [{"stored_pk": row.pk} for article, row in matches if slugs.get(article, row.slug) != row.slug]
        table = Article.__table__
        placeholder = literal(" ").concat(table.c.id)
        self._execute(update(table).where(table.c.pk == bindparam("stored_pk")).values(slug=placeholder), moving)

    def write(self, batch: list[SourceArticle]) -> None:
        """Write the new and changed articles of a batch."""
        matches = self._plan.matches
        stored = self._load([matches[article].pk for article in batch if article in matches])
        new: list[ArticleRow] = []
        changed: list[ArticleRow] = []
        for article in batch:
            slug = self._plan.slugs[article]
            article.row["content_html"] = self.result.links.rewrite(article)
            existing = stored[matches[article].pk] if article in matches else None
            row = self._rows.complete(article, slug, self._plan.publications[article], existing)
            if existing is None:
                new.append(row)
                self._count_new(article, row)
            elif existing.items() >= row.items():
                self.result.counts["unchanged"] += 1
            else:
                changed.append({"pk": existing["pk"], **row})
                self._count_change(article, row, existing)
        self._execute(update(Article), changed)
        self._execute(insert(Article), new)

    def _load(self, pks: list[int]) -> dict[int, ArticleRow]:
        """Return stored articles by pk."""
        rows = db.session.execute(select(Article.__table__).where(Article.pk.in_(pks))).mappings()
        return {row["pk"]: dict(row) for row in rows}

    def _count_new(self, article: SourceArticle, row: ArticleRow) -> None:
        result = self.result
        result.counts["new"] += 1
        result.counts[publication_state(row["status"], row["published_at"], self._plan.now)] += 1
        result.new.append(row["slug"])
        result.written.append(article)

    def _count_change(self, article: SourceArticle, row: ArticleRow, stored: ArticleRow) -> None:
        """Count and name what readers or the operator could notice, unlike a new key in the same source."""
        before = stored | {"slug": self._plan.matches[article].slug}  # not the placeholder
        names = [_describe_change(column, row, before) for column in FIELD_NAMES if before[column] != row[column]]
        if stored["source"] != row["source"]:
            names.append("source")
        if not names:
            self.result.counts["unchanged"] += 1
            return
        self.result.counts["changed"] += 1
        self.result.written.append(article)
        content = [name for name in names if name != "updatedAt"]  # moves with any other field
        self.result.changes.append((row["slug"], content or names))

    def _execute(self, statement: Any, rows: list[ArticleRow]) -> None:
        """Execute a statement for each row, unless this is a dry run."""
        self.result.has_changes = self.result.has_changes or bool(rows)
        if rows and not self._dry_run:
            db.session.execute(statement, rows)


def _describe_change(column: str, row: ArticleRow, stored: ArticleRow) -> str:
    """Return the name of a changed field, with its old slug or its new status."""
    if column == "slug":
        return f"slug (was {stored['slug']})"
    return f"status (now {row['status']})" if column == "status" else FIELD_NAMES[column]
