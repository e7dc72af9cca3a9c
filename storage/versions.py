"""Changes from one version of the tables to the next."""

from collections import defaultdict

from sqlalchemy import Connection


def _replace_check(table: str, name: str, condition: str) -> list[str]:
    """Return statements for PostgreSQL that add a CHECK constraint or replace the existing one with this name.

    The second statement checks the existing rows. If it fails, the constraint remains, so `storage.tables` can find the
    invalid row.
    """
    return [
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}, ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID",
        f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}",
    ]


IN_YEARS_1_TO_9999 = "{0} >= '0001-01-01 00:00:00+00' AND {0} < '10000-01-01 00:00:00+00'"  # on PostgreSQL

# By version and database, the statements that turn the tables of the previous version into those of this version. The
# last version is the current one. CONTRIBUTING.md lists the steps to add a version.
#
# On PostgreSQL, they alter the tables. They must not rewrite a table, because requests that began earlier would see it
# empty (https://www.postgresql.org/docs/current/sql-altertable.html#SQL-ALTERTABLE-NOTES).
#
# On SQLite, they alter the copies: old_customer, old_api_key and old_article. Constraints, indexes and new columns come
# from models.py.
CHANGES: dict[int, dict[str, list[str]]] = {
    3: {
        "sqlite": [
            "UPDATE old_article SET schema_markup = NULL WHERE schema_markup_generated",
            "ALTER TABLE old_article DROP COLUMN schema_markup_generated",
        ],
        "postgresql": [
            "ALTER TABLE article ALTER COLUMN schema_markup DROP NOT NULL",
            "UPDATE article SET schema_markup = NULL WHERE schema_markup_generated",
            "ALTER TABLE article DROP COLUMN schema_markup_generated",
        ],
    },
    4: {
        "sqlite": [],
        "postgresql": [
            *_replace_check("article", "article_keywords_check", "jsonb_typeof(keywords::jsonb) = 'array'"),
            *_replace_check("article", "article_schema_markup_check", "jsonb_typeof(schema_markup::jsonb) = 'object'"),
            "ALTER TABLE article DROP CONSTRAINT IF EXISTS article_schema_markup_check1",
        ],
    },
    5: {  # also move_times_into_range
        "sqlite": [],
        "postgresql": [
            *_replace_check("api_key", "api_key_created_at_check", IN_YEARS_1_TO_9999.format("created_at")),
            *_replace_check("api_key", "api_key_revoked_at_check", IN_YEARS_1_TO_9999.format("revoked_at")),
            *_replace_check("api_key", "api_key_expires_on_check", "expires_on BETWEEN '0001-01-01' AND '9999-12-31'"),
            *_replace_check("article", "article_published_at_check", IN_YEARS_1_TO_9999.format("published_at")),
            *_replace_check("article", "article_created_at_check", IN_YEARS_1_TO_9999.format("created_at")),
            *_replace_check("article", "article_updated_at_check", IN_YEARS_1_TO_9999.format("updated_at")),
            *_replace_check(
                "article",
                "article_check",
                "status IN ('draft', 'pending') OR status = 'published' AND published_at IS NOT NULL",
            ),
            "ALTER INDEX IF EXISTS article_by_publication_alone RENAME TO article_by_publication",
            "ALTER INDEX IF EXISTS article_by_creation_alone RENAME TO article_by_creation",
            "ALTER INDEX IF EXISTS article_by_title_alone RENAME TO article_by_title",
            "ALTER INDEX IF EXISTS article_by_views_alone RENAME TO article_by_views",
        ],
    },
    6: {
        # Existing articles get the origin "?". The source of a pending one published it.
        "sqlite": [
            "ALTER TABLE old_article ADD COLUMN origin TEXT DEFAULT '?'",
            "ALTER TABLE old_article ADD COLUMN claim TEXT",
            "UPDATE old_article SET claim = 'published' WHERE status = 'pending'",
        ],
        "postgresql": [
            "ALTER TABLE customer ADD COLUMN site TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE article ADD COLUMN origin TEXT COLLATE \"C\" DEFAULT '?', ADD COLUMN claim TEXT, "
            "ADD COLUMN claimed_at TIMESTAMPTZ, ADD COLUMN edited BOOLEAN NOT NULL DEFAULT false, "
            "ADD COLUMN authors TEXT NOT NULL DEFAULT '[]'",
            "ALTER TABLE article ALTER COLUMN origin DROP DEFAULT",
            "UPDATE article SET claim = 'published' WHERE status = 'pending'",
            *_replace_check("article", "article_claim_check", "claim IN ('published', 'withheld')"),
            *_replace_check("article", "article_claimed_at_check", IN_YEARS_1_TO_9999.format("claimed_at")),
            *_replace_check("article", "article_authors_check", "jsonb_typeof(authors::jsonb) = 'array'"),
            "CREATE UNIQUE INDEX article_by_origin ON article (customer_id, origin) WHERE origin <> '?'",
        ],
    },
}

# SQL expressions that name a row in messages, by table
ROW_NAMES = {
    "customer": "'the customer ' || id",
    "api_key": "'the key ' || id",
    "article": "'the article ' || slug || ' of ' || coalesce("
    "(SELECT name FROM customer WHERE customer.id = customer_id), 'a missing customer')",
}

# Before version 5, times could be outside the years 1 to 9999: on SQLite in year 0, on PostgreSQL anywhere.
TIME_COLUMNS = {
    "article": ("published_at", "created_at", "updated_at"),
    "api_key": ("created_at", "revoked_at", "expires_on"),
}
OUT_OF_RANGE = {"sqlite": "{0} GLOB '0000-*'", "postgresql": f"NOT ({IN_YEARS_1_TO_9999})"}
NEAREST_TIME = {
    "sqlite": "substr('0001-01-01 00:00:00', 1, length({0}))",  # of a date, the first 10 characters
    "postgresql": "least(greatest({0}, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999+00')",
}
MAX_MESSAGES = 20


def move_times_into_range(connection: Connection) -> list[str]:
    """Move times outside the years 1 to 9999 to the nearest time inside. Returns a message about each row."""
    dialect = connection.dialect.name
    moved: dict[str, list[str]] = defaultdict(list)
    for name, columns in TIME_COLUMNS.items():
        table = f"old_{name}" if dialect == "sqlite" else name
        for column in columns:
            condition = OUT_OF_RANGE[dialect].format(column)
            nearest = NEAREST_TIME[dialect].format(column)
            rows = f"SELECT {ROW_NAMES[name]} FROM {table} WHERE {condition} ORDER BY 1"  # noqa: S608
            for row in connection.exec_driver_sql(rows).scalars():
                moved[row].append(column)
            connection.exec_driver_sql(f"UPDATE {table} SET {column} = {nearest} WHERE {condition}")  # noqa: S608
    messages = [
        f"Moved {', '.join(columns)} of {row} to the nearest time in the years 1 to 9999."
        for row, columns in moved.items()
    ]
    if len(messages) > MAX_MESSAGES:
        messages[MAX_MESSAGES:] = [f"… and times of {len(messages) - MAX_MESSAGES} more rows."]
    return messages
