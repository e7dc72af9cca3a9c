"""Find and name the row that violates a constraint. The databases themselves only name the constraint."""

from collections.abc import Sequence

from sqlalchemy import Connection, Table, TextClause, text
from sqlalchemy.exc import DataError, IntegrityError

# SQL expressions for a row's name in messages, by table
ROW_NAMES = {
    "customer": "'the customer ' || id",
    "api_key": "'the key ' || id",
    "article": "'the article ' || slug || ' of ' || coalesce("
    "(SELECT name FROM customer WHERE customer.id = customer_id), 'a missing customer')",
}


def find_invalid_row(connection: Connection, table: Table, statement: str, read_from: str) -> str | None:
    """Return a name for the first row for which a statement fails, or None if it fails for no single row.

    The statement writes to `table`, and reads the rows of `read_from`, which has the same columns. It is executed
    without effect for ranges of rows, halved until only one row is left.
    """
    pk = next(iter(table.primary_key)).name
    pks = connection.exec_driver_sql(f"SELECT {pk} FROM {read_from} ORDER BY {pk}").scalars().all()  # noqa: S608
    part = text(f"{statement} WHERE {pk} BETWEEN :first AND :last")
    if not _fails(connection, part, pks):
        return None
    while len(pks) > 1:
        middle = len(pks) // 2
        pks = pks[:middle] if _fails(connection, part, pks[:middle]) else pks[middle:]
    if not _fails(connection, part, pks):
        return None
    name = ROW_NAMES.get(table.name, f"'a row of {table.name}'")
    row = text(f"SELECT {name} FROM {read_from} WHERE {pk} = :pk")  # noqa: S608
    return str(connection.execute(row, {"pk": pks[0]}).scalar_one())


def _fails(connection: Connection, statement: TextClause, pks: Sequence[int]) -> bool:
    """Return whether a statement fails for the rows with these sorted pks, and undo it."""
    if not pks:
        return False
    savepoint = connection.begin_nested()
    try:
        connection.execute(statement, {"first": pks[0], "last": pks[-1]})
    except (IntegrityError, DataError):
        return True
    finally:
        savepoint.rollback()
    return False
