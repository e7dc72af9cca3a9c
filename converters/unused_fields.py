"""The fields of a source, from which a converter takes what it uses. Whatever remains is reported."""

from typing import Any

from converters.records import FIELD_BY_ALIAS, Mistake, SourceArticle, plain_name

DROPPED = "Dropped fields that have no counterpart"
REPEATED = "Fields given under several names; only one was used"
EMPTY: tuple[Any, ...] = (None, "", [], {})


class UnusedFields:
    """The fields of a source that have not been used yet: original names and values, by plain name."""

    def __init__(self, article: SourceArticle, fields: dict[str, Any], *, decisive: set[str]) -> None:
        """`decisive` are the plain names of fields that must not appear twice with different values."""
        self.article = article
        self.values: dict[str, tuple[str, Any]] = {}
        for name, value in fields.items():
            if value in EMPTY and name != "contentHtml":
                continue
            plain = plain_name(name)
            if plain not in self.values:
                self.values[plain] = name, value
            elif plain not in decisive:
                article.drop(REPEATED, f"{self.values[plain][0]} instead of {name}"[:80])
            elif value != self.values[plain][1]:
                reason = f"Contradicts {self.values[plain][0]}, another spelling of the same field. Remove one."
                article.mistakes.append(Mistake(article.where, reason, name, value))

    def pop_alias(self, alias: str) -> tuple[str, Any]:
        """Remove a field; return its original name and its value (None if missing)."""
        return self.values.pop(alias, (alias, None))

    def take_field(self, field: str) -> None:
        """Give the article one of the import schema's fields, if the source has it by any name."""
        for alias, name in FIELD_BY_ALIAS.items():
            # The other slug aliases hold URLs. They are only used for hints in error messages.
            if name == field and alias in self.values and (field != "slug" or alias == "slug"):
                self.article.names[field], self.article.fields[field] = self.pop_alias(alias)
                return

    def drop_rest(self) -> None:
        """Record that the remaining fields were not used."""
        for alias, (name, _) in self.values.items():
            field = "category" if alias == "categories" else FIELD_BY_ALIAS.get(alias, "")
            if field in self.article.names and field != "slug":
                self.article.drop(REPEATED, f"{self.article.names[field]} instead of {name}"[:80])
            else:
                self.article.drop(DROPPED, name[:80])
