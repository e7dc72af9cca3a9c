"""The named fields of a Markdown file or a CSV row. A converter takes what it uses, and the rest is reported."""

from typing import Any, NamedTuple

from converters.articles import DECISIVE_FIELDS, EMPTY_VALUES, ImportProblem, SourceArticle
from converters.field_names import FIELD_BY_ALIAS, plain_name
from converters.scalars import Unquoted


class SourceField(NamedTuple):
    """A field as its author wrote it."""

    name: str
    value: Any

    @property
    def alias(self) -> str:
        """Its name in the spelling of the aliases."""
        return plain_name(self.name)

    @property
    def is_empty(self) -> bool:
        """Whether it has no value. In front matter, `false` unsets a field unless it is a decisive one."""
        import_field = FIELD_BY_ALIAS.get(self.alias, "status")
        is_unset = isinstance(self.value, Unquoted) and self.word == "false" and import_field not in DECISIVE_FIELDS
        return (self.value in EMPTY_VALUES or is_unset) and self.name != "contentHtml"

    @property
    def word(self) -> str:
        """Its value as text in lower case."""
        return str(self.value).strip().lower()


class SourceFields:
    """The fields of an article that have not been used yet, without empty ones."""

    def __init__(self, article: SourceArticle, fields: dict[str, Any]) -> None:
        self.article = article
        self._by_alias: dict[str, list[SourceField]] = {}  # an alias may occur in several spellings
        for name, value in fields.items():
            field = SourceField(name, value)
            if not field.is_empty:
                self._by_alias.setdefault(field.alias, []).append(field)

    def get(self, alias: str) -> SourceField | None:
        """Return a field, or None."""
        return self._by_alias[alias][0] if alias in self._by_alias else None

    def take(self, *aliases: str) -> list[SourceField]:
        """Remove fields, and return the ones that exist. Spellings of the same name must not contradict each other."""
        taken = []
        for alias in aliases:
            if alias in self._by_alias:
                first, *others = self._by_alias.pop(alias)
                taken.append(first)
                for other in others:
                    if other.value != first.value:
                        self.reject(other, f"Contradicts {first.name}, another spelling of the same name. Remove one.")
        return taken

    def take_import_field(self, import_field: str) -> list[SourceField]:
        """Remove all aliases of a field of the import schema, and return them by precedence.

        Those of the slug hold URLs, so only `slug` itself is removed.
        """
        aliases = [alias for alias, name in FIELD_BY_ALIAS.items() if name == import_field]
        return self.take(*aliases[:1] if import_field == "slug" else aliases)

    def assign(self, import_field: str, given: list[SourceField]) -> None:
        """Assign the first of the given values to a field of the article."""
        if given:
            self.article.fields[import_field] = given[0].value
            self.article.names[import_field] = given[0].name

    def reject(self, field: SourceField, reason: str) -> None:
        """Record a problem in a field."""
        self.article.problems.append(ImportProblem(self.article.where, reason, field.name, field.value))

    def report_rest(self) -> None:
        """Record that the remaining fields were not understood."""
        for fields in self._by_alias.values():
            for field in fields:
                self.article.note_unknown(field.name, field.value)
