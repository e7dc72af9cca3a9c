"""A database file that is replaced or overwritten while the service runs."""

import os
import re
import shutil
from pathlib import Path

import helpers
import pytest
from helpers import ENDPOINTS, minimal_json, run_sql, titles

from storage import StorageError

pytestmark = pytest.mark.sqlite

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks at open files, which needs Linux")


@pytest.fixture
def copy(save, database: Path) -> Path:
    """Another database in one file, with one article more than the current one."""
    save(*(minimal_json(number, title="New") for number in range(3)))
    path = database.with_name("copy.db")
    run_sql(database, f"VACUUM INTO '{path}'")
    save(*(minimal_json(number, title="Old") for number in range(3)))
    run_sql(database, "DELETE FROM article WHERE id = 'id-0002'")
    return path


def statuses(client):
    return {client.get(path).status_code for path in (*ENDPOINTS, "/healthz")}


def inodes_of_open_files(database: Path) -> set[int]:
    """Return the inodes of all files that this process has opened at the path of the database."""
    names = (str(database), f"{database} (deleted)")
    return {entry.stat().st_ino for entry, name in helpers.open_files().items() if name in names}


@needs_proc
def test_replaced_file_is_a_503_until_a_restart_and_never_opened(app, client, key, database, copy, caplog):
    assert titles(client) == ["Old"] * 2
    os.replace(copy, database)
    for _ in range(2):
        assert statuses(client) == {503}
        assert database.stat().st_ino not in inodes_of_open_files(database)
    assert re.search(f"{re.escape(str(database))} has been replaced. Restart the service", caplog.text)
    with helpers.application(database) as restarted:
        assert titles(helpers.client_with_key(restarted, key)) == ["New"] * 3


def test_replaced_file_that_is_put_back_is_served_again(client, database, copy):
    aside = database.with_name("aside.db")
    run_sql(database, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert titles(client) == ["Old"] * 2
    os.rename(database, aside)
    assert statuses(client) == {503}
    shutil.copyfile(copy, database)
    assert statuses(client) == {503}
    os.replace(aside, database)
    assert titles(client) == ["Old"] * 2


def test_command_that_waits_may_open_another_file(app, database, copy):
    """`watch` goes on after a file was replaced."""
    detector = app.extensions["change_detector"]
    with app.app_context():
        assert detector.version()
        os.replace(copy, database)
        with pytest.raises(StorageError):
            detector.version()
        detector.close()
        assert detector.version()
