"""A database file that is replaced while the service runs."""

import os
import re
from pathlib import Path

import helpers
import pytest
from helpers import ENDPOINTS, minimal_json, run_sql, titles


def inodes_of_open_files(database: Path) -> set[int]:
    """Return the inodes of all files that this process has opened at the path of the database."""
    names = (str(database), f"{database} (deleted)")
    return {entry.stat().st_ino for entry, name in helpers.open_files().items() if name in names}


@pytest.mark.sqlite
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks at open files, which needs Linux")
def test_replaced_file_is_a_503_until_a_restart_and_never_opened(client, key, save, database, caplog):
    save(minimal_json(1))
    copy = database.with_name("copy.db")
    run_sql(database, f"VACUUM INTO '{copy}'")
    save(minimal_json(2))
    assert titles(client) == ["Title 1", "Title 2"]
    os.replace(copy, database)
    for path in (*ENDPOINTS, "/healthz", *ENDPOINTS):
        assert client.get(path).status_code == 503
        assert database.stat().st_ino not in inodes_of_open_files(database)
    assert re.search(f"{re.escape(str(database))} has been replaced. Restart the service", caplog.text)
    with helpers.application(database) as restarted:
        assert titles(helpers.client_with_key(restarted, key)) == ["Title 1"]
