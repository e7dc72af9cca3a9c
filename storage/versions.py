"""What changed from one version of the tables to the next. CONTRIBUTING.md explains how to add a version."""


def _replace_check(table: str, name: str, condition: str) -> list[str]:
    """Return statements for PostgreSQL that add a CHECK constraint, replacing the one with this name if there is one.

    The second statement checks the existing rows. If it fails, the constraint is still there to find the row with.
    """
    return [
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}, ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID",
        f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}",
    ]


# By database and version, the statements that turn the tables of the previous version into its own.
#
# On PostgreSQL, they alter the tables, so that whatever operators have added survives. They must not rewrite a table
# (https://www.postgresql.org/docs/current/sql-altertable.html#SQL-ALTERTABLE-NOTES): requests that began earlier would
# see it empty.
#
# On SQLite, they change temporary copies of the old tables, whose rows are then copied into new ones. Constraints,
# indexes and new columns come from `models`.
CHANGES = {
    "sqlite": {
        3: [
            "UPDATE article SET schema_markup = NULL WHERE schema_markup_generated",
            "ALTER TABLE article DROP COLUMN schema_markup_generated",
        ],
    },
    "postgresql": {
        3: [
            "ALTER TABLE article ALTER COLUMN schema_markup DROP NOT NULL",
            "UPDATE article SET schema_markup = NULL WHERE schema_markup_generated",
            "ALTER TABLE article DROP COLUMN schema_markup_generated",
        ],
        4: [
            *_replace_check("api_key", "api_key_created_at_check", "isfinite(created_at)"),
            *_replace_check("api_key", "api_key_expires_on_check", "isfinite(expires_on)"),
            *_replace_check("api_key", "api_key_revoked_at_check", "isfinite(revoked_at)"),
            *_replace_check("article", "article_published_at_check", "isfinite(published_at)"),
            *_replace_check("article", "article_created_at_check", "isfinite(created_at)"),
            *_replace_check("article", "article_updated_at_check", "isfinite(updated_at)"),
            *_replace_check("article", "article_keywords_check", "jsonb_typeof(keywords::jsonb) = 'array'"),
            *_replace_check("article", "article_schema_markup_check", "jsonb_typeof(schema_markup::jsonb) = 'object'"),
            "ALTER TABLE article DROP CONSTRAINT IF EXISTS article_schema_markup_check1",
        ],
    },
}
