"""What converters yield: articles, with their notes and problems, and items that are not imported."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from converters.dates import parse_date

DATE_FIELDS = {"publishedAt", "createdAt", "updatedAt"}
# A guess in one of these could publish, move or lose something.
DECISIVE_FIELDS = {"id", "title", "slug", "contentHtml", "status", *DATE_FIELDS}
MAX_SHOWN_TITLE = 40
MAX_DETAIL = 80  # characters of a note's detail
EMPTY_VALUES: tuple[Any, ...] = (None, "", [], {})  # what missing values look like
TRUE_WORDS = ("true", "yes", "on", "y", "wahr")
FALSE_WORDS = ("false", "no", "off", "n", "falsch")
# Values of an unknown field that may have hidden the article
ACCESS_WORDS = (
    *("private", "hidden", "unlisted", "draft", "archived", "internal", "protected", "password", "restricted"),
    *("members", "members-only", "member", "subscribers", "paid", "premium", "unpublished", "expired", "secret"),
)
LEFT_OUT = "Values that were left out because they are not understood"
UNKNOWN_FIELDS = "Unknown fields that may have hidden articles"

# What a source says about the publication of an article; None if it says nothing
Claim = Literal["published", "withheld"]


class Origin(NamedTuple):
    """The source that an article comes from, and its key there."""

    source: str  # such as "ghost" or "wordpress:www.example.com"
    key: str  # unique within the source


class SourceError(Exception):
    """A source, or a file of one, that cannot be read, or not to its end. The message says why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class SourceOptions(NamedTuple):
    """Options for reading sources, from the command line or the settings."""

    site: str  # the source's, against which its relative URLs are resolved; may be empty
    zone: tzinfo  # for dates without one
    source: str = ""  # the name of the source, instead of its system or blog
    old_urls: str = ""  # the pattern of the path that articles had, such as /{year}/{slug}/
    pictures_url: str = ""  # where the pictures of the old site are now
    post_type: str = "post"  # the type of WordPress posts to import
    drop_tags: bool = False  # leave out shortcodes and template tags that are not understood

    @property
    def base(self) -> str:
        """The site with a trailing slash, or ""."""
        return f"{self.site.rstrip('/')}/" if self.site else ""


class Subject(IntEnum):
    """The subject of a note, in the order of the report."""

    ACCESS = 1  # what may have hidden an article in its source
    APPEARANCE = 2  # what readers see differently
    OLD_SITE = 3  # links and pictures that still need the old site
    DECISION = 4  # what somebody has to decide, even if the import changes nothing


class Note(NamedTuple):
    """Something to report about an article. Notes of one `kind` share a line; `detail` distinguishes them."""

    kind: str
    detail: str = ""
    unit: str = "article"  # what the report counts
    advice: str = ""  # a sentence after the counts and names
    subject: Subject = Subject.APPEARANCE


class ImportProblem(NamedTuple):
    """An error that must be corrected in the source.

    `reason` is a sentence that makes sense after the value too. Problems with the same field and reason are grouped.
    """

    where: str
    reason: str
    field: str = ""  # the field's name in the source
    value: Any = None
    other: str = ""  # where another article is, for {} in the reason
    is_fatal: bool = False  # concerns more than one article, so it cannot be skipped
    origin: Origin | None = None  # of an article that cannot be read, if its path, for example, tells


class Link(NamedTuple):
    """The target of a link in an article, according to its source."""

    page: str = ""  # of the old site, as in `SourceArticle.pages`
    origin: Origin | None = None  # of the article in a file
    is_old: bool = False  # leads to the old site, unless the target is an article of the import
    slug: str = ""  # of the article in the file


@dataclass(eq=False)  # so that articles can be keys
class SourceArticle:
    """An article of a source, with the notes and problems to report."""

    where: str  # its file, row or position
    fields: Any  # by the import schema's field names; JSON may hold anything
    names: dict[str, str] = field(default_factory=dict)  # import field name -> the field's name in the source
    notes: list[Note] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)  # to correct in the source
    origin: Origin | None = None  # None: a format of this service, whose fields include the status
    claim: Claim | None = None
    says_publish: bool = False  # it has a field such as `publish: true`
    old_urls: list[str] = field(default_factory=list)  # absolute, or paths below the old site
    pages: list[str] = field(default_factory=list)  # that links to the article lead to, such as //old.example/about
    article_url_pattern: str = ""  # of the source's articles, as in `Customer.site`, if --site names one
    kept_pictures: list[str] = field(default_factory=list)  # URLs of pictures that stay at their hosts
    links: dict[str, Link] = field(default_factory=dict)  # by URL as in the content
    is_without_text: bool = False  # and withheld: if it is stored, only its publication changes
    keeps_stored_authors: bool = False  # the source hides them
    is_own_format: bool = False  # JSON, JSON Lines, an article file, or an article of another instance
    row: dict[str, Any] = field(default_factory=dict)  # by column: what it gives, and what is derived from that

    def note(self, kind: str, detail: str = "", advice: str = "", subject: Subject = Subject.APPEARANCE) -> None:
        """Record something to report."""
        self.notes.append(Note(kind, detail[:MAX_DETAIL], advice=advice, subject=subject))

    def reject(self, field: str, reason: str, value: Any = None) -> None:
        """Remove an invalid value from an import field. It is a problem in a decisive field, otherwise only noted."""
        self.fields.pop(field, None)
        name = self.names.get(field, field)
        if field in DECISIVE_FIELDS:
            self.problems.append(ImportProblem(self.where, reason, name, value))
        else:
            self.note(LEFT_OUT, name)

    def note_unknown(self, name: str, value: Any) -> None:
        """Record an unknown field if its value may have hidden the article: a truth value, a word or a future date.

        The same holds for each value in a list or a mapping.
        """
        word = str(value).strip().lower()
        if isinstance(value, dict):
            for key, item in value.items():
                self.note_unknown(f"{name}.{key}", item)
        elif isinstance(value, list):
            for item in {str(item): item for item in value}.values():
                self.note_unknown(name, item)
        elif word in (*TRUE_WORDS, *FALSE_WORDS, *ACCESS_WORDS) or _is_in_the_future(value):
            self.note(UNKNOWN_FIELDS, f"{name}: {value}", subject=Subject.ACCESS)


class IgnoredFile(NamedTuple):
    """A file or folder of a source that is not imported."""

    path: str
    reason: str


ConvertedItems = Iterable[SourceArticle | IgnoredFile | ImportProblem]


def _is_in_the_future(value: Any) -> bool:
    with suppress(ValueError):  # not a date
        return parse_date(str(value), UTC) > datetime.now(UTC)
    return False


def locate_post(source: str, number: Any, title: Any) -> str:
    """Return the place of a post in an export, such as `export.xml, post 17 'Our menu'`. Long titles are cut."""
    text = str(title or "")
    shown = f"{text[:MAX_SHOWN_TITLE]}…" if len(text) > MAX_SHOWN_TITLE else text
    return f"{source}, post {number} {shown!r}" if shown else f"{source}, post {number}"


def unreadable_problem(where: str, error: SourceError | OSError, *, is_fatal: bool = False) -> ImportProblem:
    """Return an ImportProblem for a file that cannot be read completely."""
    if isinstance(error, OSError):
        advice = " Check its permissions." if isinstance(error, PermissionError) else ""
        return ImportProblem(where, f"Cannot be read ({error.strerror}).{advice}", is_fatal=is_fatal)
    return ImportProblem(f"{where}, line {error.line}" if error.line else where, str(error), is_fatal=is_fatal)
