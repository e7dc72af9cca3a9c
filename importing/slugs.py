"""Slugs that two articles of other systems have."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from operator import itemgetter
from typing import Any

from importing.errors import ImportErrors, SourceLocation


class SlugClaims:
    """The slugs of all articles of an import that come from other systems."""

    def __init__(self) -> None:
        self.claims: list[tuple[bool, SourceLocation, Any]] = []  # whether it is a draft's, where, and its title
        self.replacements: dict[str, str] = {}  # of slugs of drafts, by the draft's location

    def add(self, location: SourceLocation, record: dict[str, Any]) -> None:
        """Add an article in the form that an import takes."""
        status = record.get("status", "published" if "publishedAt" in record else "draft")
        self.claims.append((status == "draft", location, record.get("title")))

    def settle(self, errors: ImportErrors) -> None:
        """Find another slug for drafts whose slug is taken. Two published articles with one slug go to `errors`."""
        taken = {location.slug for _, location, _ in self.claims}
        numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(2))  # that are not tried yet
        holders: dict[str, tuple[SourceLocation, Any]] = {}
        for is_draft, location, title in sorted(self.claims, key=itemgetter(0)):
            holder, holder_title = holders.setdefault(location.slug, (location, title))
            if holder is location:
                continue
            if is_draft:
                candidates = (f"{location.slug}-{number}" for number in numbers[location.slug])
                slug = next(candidate for candidate in candidates if candidate not in taken)
                taken.add(slug)
                self.replacements[str(location)] = slug
            else:
                reason = f"{title!r} has the same slug as {holder_title!r} ({holder}). Change one of the slugs."
                errors.add(location, reason)

    def apply(self, article: tuple[SourceLocation, Any]) -> tuple[SourceLocation, Any]:
        """Return an article with the slug that was found for it."""
        location, record = article
        slug = self.replacements.get(str(location)) if self.replacements else None
        if not slug:
            return article
        note = "Drafts with another slug, because an article has theirs"
        return location._replace(slug=slug, notes=[*location.notes, note]), record | {"slug": slug}
