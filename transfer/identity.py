"""Match imported articles with stored ones."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from converters.ghost import GHOST_ID
from converters.records import Identity, Mistake, SourceArticle
from transfer.rows import Row

GENERATED_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # a UUID, as the import generates it


class Incoming(NamedTuple):
    """A valid article from a source."""

    where: str  # source, position and slug
    article: SourceArticle
    given: Row  # columns that the source gives

    @property
    def slug(self) -> str:
        """The article's slug."""
        return str(self.given["slug"])

    @property
    def keys(self) -> dict[str, str]:
        """The article's slug and, if given, its id, by field."""
        return {name: self.given[name] for name in ("id", "slug") if name in self.given}

    @property
    def has_source_id(self) -> bool:
        """Whether the article has an id from WordPress or Ghost."""
        return self.article.identity is Identity.SOURCE and "id" in self.given


class StoredArticles:
    """The stored articles that share an id or a slug with a batch."""

    def __init__(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self._by_id = {row["id"]: row for row in rows}
        self._by_slug = {row["slug"]: row for row in rows}

    def find(self, incoming: Incoming) -> Row | None:
        """Return the stored version of an imported article, or None."""
        if same_id := self._by_id.get(incoming.given.get("id", "")):
            return same_id
        holder = self.holder(incoming)
        if not holder:
            return None
        if incoming.has_source_id:
            return holder if _is_former(incoming, holder) else None
        # Native JSON carries our own ids, so an unknown id means a new article.
        return holder if incoming.article.identity is Identity.SLUG or "id" not in incoming.given else None

    def holder(self, incoming: Incoming) -> Row | None:
        """Return the stored article that has the imported article's slug, or None."""
        return self._by_slug.get(incoming.slug)

    def release_slug(self, stored: Row) -> None:
        """Forget the slug of an article that gets, or must get, another one."""
        self._by_slug.pop(stored["slug"], None)


def _is_former(incoming: Incoming, stored: Row) -> bool:
    """Return whether this is an article that version 1.2.1 stored under an id that did not contain the blog."""
    former = incoming.article.former_id, incoming.given.get("published_at")
    return former == (stored["id"], stored["published_at"])


def has_same_origin(incoming: Incoming, stored: Row) -> bool:
    """Return whether both articles come from the same WordPress blog, or both from Ghost."""
    return origin(incoming.given["id"]) == origin(stored["id"]) != ""


def origin(article_id: str) -> str:
    """Return the origin encoded in an id: a WordPress blog, Ghost, or "" for anything else."""
    if article_id.startswith("wordpress-"):
        return article_id.rpartition("-")[0]  # "wordpress" for ids of version 1.2.1, which lack the blog
    return "ghost" if GHOST_ID.fullmatch(article_id) else ""


def replaces_other_source(incoming: Incoming, stored: Row) -> bool:
    """Return whether an import is about to change an article that may come from another source."""
    known_ids = incoming.given.get("id"), incoming.article.former_id
    is_foreign = stored["id"] not in known_ids and not GENERATED_ID.fullmatch(stored["id"])
    return incoming.article.identity is not Identity.ID and is_foreign


def slug_conflict(incoming: Incoming, holder: Row) -> Mistake:
    """Return the mistake for a slug that another stored article already has."""
    if incoming.has_source_id:
        hint = "Edit its slug or delete it (flask articles edit, flask articles delete), or use another --customer."
    else:
        hint = "Choose another slug. To replace that article instead, give this one the same id, or none."
    reason = f"Already has this slug. {hint}"
    return Mistake(incoming.where, reason, "slug", f"{holder['title']} ({holder['id']})")
