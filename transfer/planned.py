"""The articles of an import, and the stored ones, as the plan sees them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from converters.articles import ImportProblem, Note
from models import UNKNOWN_ORIGIN, Article, db
from transfer.notes import SLUG_TAKEN
from transfer.origins import source_of
from transfer.publication import Publication
from transfer.spool import SpoolEntry

UNPLANNED = Publication("pending", None)  # until the plan decides


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
    def source(self) -> str | None:
        """The name of its source, if that is known."""
        return source_of(self.origin)

    @property
    def source_date(self) -> datetime | None:
        """The date that its source gave it, or the stored one if that is unknown."""
        return self.publication.claimed_at or self.publication.published_at


@dataclass(slots=True, eq=False)
class PlannedArticle:
    """An article of an import, and what is to happen with it."""

    entry: SpoolEntry
    slug: str  # after the import
    stored: StoredArticle | None = None
    is_taken_over: bool = False  # the stored article is given to the source, with its text
    left_alone: Note | None = None  # why nothing of it is written
    problem: ImportProblem | None = None  # why it is rejected
    wanted_slug: str = ""  # the slug that it was to get, but that another article keeps
    publication: Publication = UNPLANNED

    @property
    def keeps_content(self) -> bool:
        """Whether everything but the origin and the publication stays as it was edited here."""
        return bool(self.stored and self.stored.edited and self.entry.source and not self.is_taken_over)

    @property
    def is_adopted(self) -> bool:
        """Whether a stored article from before 3.0.0 gets an origin."""
        return bool(self.stored and self.entry.source and self.stored.origin == UNKNOWN_ORIGIN)

    @property
    def changes_source(self) -> bool:
        """Whether another source, or the first one, takes over a stored article."""
        return bool(self.stored and self.entry.source and self.stored.source != self.entry.source)

    @property
    def is_active(self) -> bool:
        """Whether the article is to be written."""
        return not self.left_alone and not self.problem

    def lose_slug(self) -> None:
        """Lose the slug to another article: a stored article keeps its old slug, a new one is left alone."""
        if self.stored:
            self.wanted_slug = self.slug
            self.slug = self.stored.slug
        else:
            self.left_alone = SLUG_TAKEN

    def reject(self, reason: str, field: str, value: str, other: str = "") -> None:
        """Reject the article, so that a stored one stays as it is. The problem gets its place when it is reported."""
        if self.stored:
            self.slug = self.stored.slug
        self.problem = ImportProblem("", reason, field, value, other)


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
