"""Slugs that two articles of other systems have."""

from itertools import count
from typing import Any, NamedTuple

from importing.errors import ImportErrors, SourceLocation


class Holder(NamedTuple):
    """An article that claims a slug."""

    location: SourceLocation
    slug: str
    title: str
    is_draft: bool


class SlugClaims:
    """The slugs of all articles of an import that come from other systems."""

    def __init__(self) -> None:
        self.holders: list[Holder] = []
        self.replacements: dict[str, str] = {}  # of slugs of drafts, by the draft's location

    def add(self, location: SourceLocation, record: dict[str, Any]) -> None:
        """Add an article in the form that an import takes."""
        status = record.get("status", "published" if "publishedAt" in record else "draft")
        self.holders.append(Holder(location, record["slug"], str(record.get("title")), status == "draft"))

    def settle(self, errors: ImportErrors) -> None:
        """Find another slug for drafts whose slug is taken. Two published articles with one slug go to `errors`."""
        taken = {holder.slug for holder in self.holders}
        first: dict[str, Holder] = {}
        for holder in sorted(self.holders, key=lambda holder: holder.is_draft):
            location, slug, title, is_draft = holder
            other = first.setdefault(slug, holder)
            if other is holder:
                continue
            if not is_draft:
                reason = f"{title!r} has the same slug as {other.title!r} ({other.location}). Change one of the slugs."
                errors.add(location, reason)
                continue
            new = next(new for number in count(2) if (new := f"{slug}-{number}") not in taken)
            taken.add(new)
            self.replacements[str(location)] = new

    def apply(self, article: tuple[SourceLocation, Any]) -> tuple[SourceLocation, Any]:
        """Return an article with the slug that was found for it."""
        location, record = article
        if slug := self.replacements.get(str(location)) if self.replacements else None:
            note = "Drafts with another slug, because an article has theirs"
            return location._replace(slug=slug, notes=[*location.notes, note]), record | {"slug": slug}
        return article
