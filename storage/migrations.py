"""The migration: how the tables of the previous schema version become those of the current one."""

from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, text

from models import UtcDateTime

# somebody decided in 3.0.0 whether or when the article is public; binds `now`
WAS_DECIDED_HERE = """
    status = 'draft'
    OR status = 'published' AND claim = 'withheld'
    OR status = 'published' AND published_at > :now AND claimed_at IS NULL
    OR claimed_at IS NOT NULL AND (published_at IS NULL OR published_at <> claimed_at)
"""
UNKNOWN_ORIGIN = "?"  # of articles that no import with 3.0.0 contained


def migrate_article(connection: Connection, article: str) -> list[str]:
    """Alter the article table, whose name is `article`. Returns messages for the operator.

    Replaces what a source had said (3.0.0) by two flags that say what was changed here, and splits the origins. On
    PostgreSQL, the table must not be rewritten, because requests that began earlier would see it empty
    (https://www.postgresql.org/docs/current/sql-altertable.html#SQL-ALTERTABLE-NOTES).
    """
    collation = 'COLLATE "C"' if connection.dialect.name == "postgresql" else ""
    for column in (
        f"source TEXT {collation}",
        f"source_key TEXT {collation}",
        "text_edited BOOLEAN DEFAULT false NOT NULL",
        "publication_edited BOOLEAN DEFAULT false NOT NULL",
    ):
        connection.exec_driver_sql(f"ALTER TABLE {article} ADD COLUMN {column}")
    mark_decided = text(f"UPDATE {article} SET publication_edited = true WHERE {WAS_DECIDED_HERE}")  # noqa: S608
    now = bindparam("now", datetime.now(UTC), UtcDateTime)
    connection.execute(mark_decided.bindparams(now))
    connection.exec_driver_sql(f"UPDATE {article} SET status = 'draft' WHERE status = 'pending' AND claim = 'withheld'")  # noqa: S608
    connection.exec_driver_sql(f"UPDATE {article} SET text_edited = true WHERE edited")  # noqa: S608
    unknown = _split_origins(connection, article)
    for column in ("origin", "claim", "claimed_at", "edited"):
        connection.exec_driver_sql(f"ALTER TABLE {article} DROP COLUMN {column}")
    if connection.dialect.name == "postgresql":  # on SQLite, constraints come from models.py
        connection.exec_driver_sql(f"ALTER TABLE {article} ADD UNIQUE (customer_id, source, source_key)")
        connection.exec_driver_sql(f"ALTER TABLE {article} DROP CONSTRAINT IF EXISTS article_read_time_check")
    decided = _count(connection, article, "publication_edited")
    return _describe(decided, _count(connection, article, "text_edited"), unknown)


def _count(connection: Connection, article: str, flag: str) -> int:
    """Return how many articles from a source have a flag."""
    count = f"SELECT count(*) FROM {article} WHERE source IS NOT NULL AND {flag}"  # noqa: S608
    return int(connection.exec_driver_sql(count).scalar_one())


def _split_origins(connection: Connection, article: str) -> int:
    """Split each origin into source and key. Returns how many are unknown, which become NULL."""
    rows = connection.exec_driver_sql(f"SELECT pk, origin FROM {article} WHERE origin IS NOT NULL").all()  # noqa: S608
    parts = [{"pk": pk, **split_origin(origin)} for pk, origin in rows if origin != UNKNOWN_ORIGIN]
    if parts:
        statement = f"UPDATE {article} SET source = :source, source_key = :source_key WHERE pk = :pk"  # noqa: S608
        connection.execute(text(statement), parts)
    return len(rows) - len(parts)


def split_origin(origin: str) -> dict[str, str]:
    """Return the source and the key in an origin of 3.0.0, such as `markdown/menu/spring` or `wordpress:a.example/17`.

    Keys may contain slashes. Among sources, only WordPress addresses may, and their keys are numbers.
    """
    split = origin.rpartition if origin.startswith("wordpress:") else origin.partition
    source, _, key = split("/")
    return {"source": source, "source_key": key}


def _describe(decided: int, edited: int, unknown: int) -> list[str]:
    messages = []
    if decided or edited:
        messages.append(
            f"Imports will leave alone what was changed here: the publication of {decided} and the text of {edited} "
            "articles. To see which: flask articles list"
        )
    if unknown:
        messages.append(
            f"{unknown} articles have never been imported with 3.0.0, so imports will not recognize them. If they come "
            "from a source, restore the backup, run each import once with 3.0.0, and upgrade again."
        )
    return messages
