"""Setups of docs/operate.md, docs/publish.md and docs/move.md: units, backups, nginx, redirects."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import helpers
import pytest
from helpers import ENDPOINTS, LISTS, article_json, blocks, database_url, get, read_page, wait_for

from benchmarks.servers import free_port, listening

MOVE = read_page("docs/move")
DEPLOY = helpers.PROJECT / "deploy"
UNITS = {path.name: path.read_text() for path in DEPLOY.glob("*.service")}
PROGRAMS = Path(sys.executable).parent


def local(text, paths):
    """Replace the paths in a documented text by those of the test."""
    for written, here in paths.items():
        text = text.replace(written, str(here))
    return text


@pytest.fixture
def paths(tmp_path):
    """The test's replacements for documented paths."""
    return {
        "/opt/articles/.venv/bin": PROGRAMS,
        "/opt/articles": helpers.PROJECT,
        "/srv/site": tmp_path,
        "User=articles": "User=root",
    }


def test_systemd_accepts_the_units(tmp_path, paths):
    assert len(UNITS) == 2
    for name, unit in UNITS.items():
        (tmp_path / name).write_text(local(unit, paths))
    (tmp_path / "articles.service.d").mkdir()
    drop_in = (DEPLOY / "gunicorn.conf").read_text()
    drop_in = drop_in.replace("/opt/articles/.venv/bin/gunicorn", "/bin/true")  # gunicorn is not installed here
    (tmp_path / "articles.service.d/gunicorn.conf").write_text(drop_in)
    for name in UNITS:
        result = subprocess.run(["systemd-analyze", "verify", str(tmp_path / name)], capture_output=True, text=True)
        assert (result.returncode, result.stderr) == (0, "")


def test_gunicorn_ends_before_systemd_kills_it():
    limit = re.search("^TimeoutStopSec=(.*)$", UNITS["articles.service"], re.MULTILINE)[1]
    assert runpy.run_path(str(DEPLOY / "gunicorn.py"))["graceful_timeout"] < int(limit)


def test_watch_unit_builds_in_the_folder_of_the_site(key, save, database, tmp_path, paths):
    (tmp_path / "site.env").write_text("ARTICLES_KEY=demo-key\n")
    program = 'import os, pathlib; pathlib.Path("built").write_text(os.environ["ARTICLES_KEY"])'
    (tmp_path / "make_site.py").write_text(program)
    built = tmp_path / "built"
    settings = re.findall(r"^(\w+)=(.*)$", local(UNITS["articles-site.service"], paths), re.MULTILINE)
    lines = [value for name, value in settings if name == "Environment"]
    (file,) = [value for name, value in settings if name == "EnvironmentFile"]
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "FLASK_SKIP_DOTENV": "1"}
    environment |= {"DATABASE_URL": database_url(database)}
    environment |= dict(line.split("=", 1) for line in lines + Path(file).read_text().splitlines())
    folder, command = (dict(settings)[name] for name in ("WorkingDirectory", "ExecStart"))
    with subprocess.Popen(shlex.split(command), cwd=folder, env=environment) as watch:
        wait_for(lambda: built.exists() and built.read_text() == "demo-key", lambda: "not built", 30)
        built.unlink()
        save(article_json(1))
        wait_for(built.exists, lambda: "not built again", 30)
        watch.terminate()
        assert watch.wait(timeout=30) == 0


OLD_BACKUPS = [f"articles-202601{day:02}T023000Z.db" for day in range(1, 16)]


@pytest.fixture
def back_up(key, save, database, tmp_path, monkeypatch):
    """Run backup.sh on a folder whose name has a space, with 15 old backups; return the result and the new files."""
    save(article_json(1))
    folder = tmp_path / "my backups"
    monkeypatch.chdir(tmp_path)

    def back_up(prefix="", folder=folder, **environment):
        helpers.write_files(folder, dict.fromkeys(OLD_BACKUPS, ""))
        before = set(os.listdir(folder))
        variables = {"DATABASE_URL": database_url(database), "FLASK_SKIP_DOTENV": "1"} | environment
        result = helpers.run_in_shell(f"{prefix} sh {DEPLOY}/backup.sh 'my backups'", **variables)
        return result, set(os.listdir(folder)) - before

    back_up.folder = folder
    return back_up


def test_backup_is_complete_and_replaces_the_oldest(back_up):
    foreign = ["articles-20251231.db", "articles-before-move.db", f"articles-{'1' * 20}.db"]
    helpers.write_files(back_up.folder, dict.fromkeys([*foreign, ".unfinished/killed"], ""))
    result, (new,) = back_up()
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    assert set(os.listdir(back_up.folder)) == {*foreign, *OLD_BACKUPS[2:], new}
    copy = {"DATABASE_URL": f"sqlite:///{back_up.folder / new}", "FLASK_SKIP_DOTENV": "1"}
    assert "slug-1" in helpers.run_in_shell("flask articles list", **copy).stdout


@pytest.mark.parametrize("year", [2020, 2040])
def test_backup_is_kept_although_the_clock_is_wrong(back_up, year):
    """Backups of a wrong future must not displace later ones either."""
    result, (new,) = back_up(f"faketime '{year}-01-01 02:30:00'")
    assert (result.returncode, new in result.stderr) == (0, year == 2020)
    result, (newer,) = back_up()
    assert (result.returncode, newer in result.stderr) == (0, year == 2040)
    assert (back_up.folder / newer).stat().st_size > 10_000


def test_failed_backup_deletes_nothing(back_up, tmp_path):
    result, new = back_up(DATABASE_URL=f"sqlite:///{tmp_path}/nowhere.db")
    assert (result.returncode, "nowhere.db" in result.stderr, new) == (1, True, {".unfinished"})
    assert {*OLD_BACKUPS} <= set(os.listdir(back_up.folder))
    for nothing in ("", "''"):
        result = helpers.run_in_shell(f"sh {DEPLOY}/backup.sh {nothing}")
        assert (result.returncode, "folder" in result.stderr, result.stderr.count("\n")) == (2, True, 1)


@pytest.fixture
def proxy(server, tmp_path):
    """A running nginx with the documented site, in front of the service, over IPv4 and IPv6."""
    port = free_port()
    site = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    site = site.replace("listen 80;", f"listen 127.0.0.1:{port};").replace("[::]:80;", f"[::1]:{port};")
    main = f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error; user root; worker_processes auto;\n"
    (tmp_path / "nginx.conf").write_text(f"{main}events {{}} http {{ access_log off; {site} }}")
    with listening(["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")], port):
        yield SimpleNamespace(host="127.0.0.1", port=port)


def test_nginx_is_as_fresh_as_the_service(save, sql, server, proxy, key):
    save(article_json(1, contentHtml="x" * 100_000))
    over_ipv6 = SimpleNamespace(host="::1", port=proxy.port)
    for path in ENDPOINTS:
        for encoding in ("identity", "gzip"):
            direct, *responses = (
                get(at, path, x_api_key=key, Accept_Encoding=encoding) for at in (server, proxy, over_ipv6)
            )
            etag = direct.getheader("ETag")
            for response in responses:
                assert (response.status, response.body, response.getheader("ETag")) == (200, direct.body, etag)
        assert get(proxy, path, x_api_key=key, If_None_Match=etag).status == 304
    for number in range(20):
        status = ("draft", "published")[number % 2]
        sql("UPDATE article SET status = ?", status)
        assert (b"slug-1" in get(proxy, LISTS[1], x_api_key=key).body) == (status == "published")
    sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
    assert get(proxy, LISTS[1], x_api_key=key).status == 401


ODD_PATHS = ['/a"b/', "/a\\", "/a'b", "/$uri", "/a;b{c}", "/#!", "/~x", "/50%", "/café", "/a\tb\nc"]


def test_nginx_redirects_old_urls_with_any_character(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    redirects = helpers.section(MOVE, "Redirects")
    (program,), (nginx,) = blocks(redirects, "python"), blocks(redirects, "nginx")
    rows = [f'"https://old.example{quote(path)}",slug-{number}' for number, path in enumerate(ODD_PATHS)]
    Path("redirects.csv").write_text("\n".join(["old_url,slug", *rows]))
    subprocess.run([sys.executable, "-c", program], check=True)
    port = free_port()
    site = local(nginx, {"/etc/nginx": tmp_path, "server {": f"server {{ listen 127.0.0.1:{port};"})
    main = f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error;\n"
    Path("nginx.conf").write_text(f"{main}events {{}} http {{ access_log off;\n{site} }}")
    arguments = ["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    checked = subprocess.run([*arguments, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    with listening(arguments, port):
        server = SimpleNamespace(host="127.0.0.1", port=port)
        locations = [get(server, quote(path)).getheader("Location") for path in ODD_PATHS]
    assert [url.split("/")[-2] for url in locations] == [f"slug-{number}" for number in range(len(ODD_PATHS))]
