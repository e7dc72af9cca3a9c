"""Setups of docs/operate.md, docs/publish.md and docs/move.md: units, backups, mirrors, nginx, redirects."""

import json
import re
import runpy
import shlex
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import helpers
import pytest
from helpers import ENDPOINTS, LISTS, article_json, blocks, database_url, get, read_page, subprocess_args, wait_for

from benchmarks.servers import free_port, listening

MOVE, OPERATE, PUBLISH = (read_page(f"docs/{name}") for name in ("move", "operate", "publish"))
DEPLOY = helpers.PROJECT / "deploy"
UNITS = {path.name: path.read_text() for path in DEPLOY.glob("*.service")}
PROGRAMS = Path(sys.executable).parent


def local(text, paths):
    """Replace the paths in a documented text by those of the test."""
    for written, here in paths.items():
        text = text.replace(written, str(here))
    return text


@pytest.fixture
def paths(database, tmp_path):
    """The test's replacements for documented paths."""
    return {
        "sqlite:////var/lib/articles/articles.db": database_url(database),
        "/opt/articles/.venv/bin": PROGRAMS,
        "/opt/articles": helpers.PROJECT,
        "/srv/site": tmp_path,
        "/var/backups/articles": tmp_path / "backups",
        "User=articles": "User=root",
    }


def unit_args(unit, **environment):
    """Return arguments for `subprocess.run` that start what systemd would start."""
    settings = re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE)
    lines = [value for name, value in settings if name == "Environment"]
    for file in (value for name, value in settings if name == "EnvironmentFile"):
        lines += Path(file).read_text().splitlines()
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "FLASK_SKIP_DOTENV": "1"}
    return {
        "args": shlex.split(dict(settings)["ExecStart"]),
        "cwd": dict(settings)["WorkingDirectory"],
        "env": environment | dict(line.split("=", 1) for line in lines),
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


def test_nightly_backup_is_readable_and_prints_nothing(key, save, database, tmp_path, paths):
    save(article_json(1))
    for folder in ("backups", "temporary"):
        (tmp_path / folder).mkdir()
    variables, script, copy = (DEPLOY / "articles.cron").read_text().rsplit("\n", 3)[:3]
    assert "rsync" in copy
    assert "%" not in script  # cron replaces it by a newline
    path = local(re.search("^PATH=(.*)$", variables, re.MULTILINE)[1], paths)
    environment = {"DATABASE_URL": database_url(database), "TMPDIR": f"{tmp_path}/temporary", "FLASK_SKIP_DOTENV": "1"}
    result = helpers.run_in_shell(local(script.split(" ", 6)[6], paths), PATH=path, **environment)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    (file,) = (tmp_path / "backups").iterdir()
    assert "slug-1" in subprocess.run(**subprocess_args(file, "-m", "flask", "articles", "list")).stdout
    assert list((tmp_path / "temporary").iterdir()) == []


FAKE_PROGRAM = """#!/bin/sh
case "$(basename $0) $2" in "flask restore"|pg_restore*) exit $RESTORE_STATUS;; esac
: >>"{}"
"""


@pytest.mark.parametrize(("script", "suffix"), [("backup.sh", "db"), ("backup-postgresql.sh", "dump")])
def test_backup_scripts_delete_their_oldest_files(tmp_path, monkeypatch, script, suffix):
    """With fake programs, in a folder whose name has a space, started beside a folder with the name after the space."""
    old = [f"articles-202601{day:02}T023000Z.{suffix}" for day in range(1, 16)]
    foreign = [f"articles-{name}.{suffix}" for name in ("20251231", "before-move", "1" * 20)]
    helpers.write_files(tmp_path / "backups", dict.fromkeys(old, ""))
    helpers.write_files(tmp_path / "my backups", dict.fromkeys(foreign, ""))
    (tmp_path / "bin").mkdir()
    for program, written in (("flask", "$3"), ("pg_dump", "${2#--file=}"), ("pg_restore", "")):
        (tmp_path / "bin" / program).write_text(FAKE_PROGRAM.format(written))
        (tmp_path / "bin" / program).chmod(0o755)
    monkeypatch.chdir(tmp_path)

    def back_up(folder, restore_status=0):
        helpers.write_files(tmp_path / "my backups", dict.fromkeys(old, ""))
        variables = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "RESTORE_STATUS": str(restore_status)}
        result = helpers.run_in_shell(f"sh {DEPLOY / script} {folder}", **variables)
        return result, {path.name for path in Path("my backups").iterdir()}

    result, left = back_up("'my backups'")
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    assert (left & set(old), left >= set(foreign), len(left)) == ({*old[-13:]}, True, 14 + len(foreign))
    assert len(list(Path("backups").iterdir())) == len(old)
    result, left = back_up("'my backups'", restore_status=1)
    assert (result.returncode, left >= set(old)) == (1, True)
    for nothing in ("", "''"):
        result, _ = back_up(nothing)
        assert (result.returncode, "folder" in result.stderr, result.stderr.count("\n")) == (2, True, 1)


def test_nightly_mirror_prints_only_errors(app, site, run, key, paths):
    site.save(article_json(1, contentHtml='<img src="/relative.png">'), article_json(2))
    crontab = blocks(helpers.section(PUBLISH, "Mirror another instance"), "cron")[0]
    assert "%" not in crontab  # cron replaces it by a newline
    url = f"http://{site.server.host}:{site.server.port}"

    def mirror(key):
        others = {"https://other.example.com": url, "ITS_KEY": key, "$(.venv/bin": f"$({PROGRAMS}"}
        *variables, line = local(crontab, paths | others).splitlines()
        environment = dict(variable.split("=", 1) for variable in variables)
        environment |= {"DATABASE_URL": app.config["DATABASE_URL"], "FLASK_SKIP_DOTENV": "1"}
        return helpers.run_in_shell(line.split(" ", 5)[5], **environment)

    result = mirror(site.key)
    assert (result.stdout, result.stderr) == ("", "")
    assert run("articles", "list").stdout.count("published\t") == 2
    assert "--key or SOURCE_API_KEY" in mirror("wrong").stdout


def test_watch_unit_builds_in_the_folder_of_the_site(key, save, database, tmp_path, paths):
    (tmp_path / "site.env").write_text("ARTICLES_KEY=demo-key\n")
    program = 'import os, pathlib; pathlib.Path("built").write_text(os.environ["ARTICLES_KEY"])'
    (tmp_path / "make_site.py").write_text(program)
    built, unit = tmp_path / "built", UNITS["articles-site.service"]
    command = blocks(read_page("docs/integrate"), "sh", "**On the machine that runs the API**")[0].splitlines()[1]
    user, command = command.split(" -- ", 1)
    assert f"ExecStart={command}\n" in unit
    assert f"User={user.removeprefix('runuser -u ')}\n" in unit
    with subprocess.Popen(**unit_args(local(unit, paths), DATABASE_URL=database_url(database))) as watch:
        wait_for(lambda: built.exists() and built.read_text() == "demo-key", lambda: "not built", 30)
        built.unlink()
        save(article_json(1))
        wait_for(built.exists, lambda: "not built again", 30)
        watch.terminate()
        assert watch.wait(timeout=30) == 0


def test_litestream_restores_all_data_on_another_machine(save, start, key, database, tmp_path):
    """After several commands, the service and Litestream are killed."""
    new = tmp_path / "elsewhere" / "articles.db"
    new.parent.mkdir()
    here = {"instance/articles.db": database, "/mnt/": f"{tmp_path}/", "articles-copy.db": new.with_name("copy.db")}
    commands = local(helpers.section(OPERATE, "Continuously, with Litestream"), here)
    replicate, *restore = "".join(blocks(commands, "sh")).splitlines()
    save(article_json(0))
    server = start()
    with (tmp_path / "litestream.log").open("w") as log:
        litestream = subprocess.Popen(f"exec {PROGRAMS}/{replicate}", shell=True, stdout=log, stderr=log)  # noqa: S602
    for number in range(1, 6):
        save(article_json(number))
    before = [get(server, path, x_api_key=key).body for path in ENDPOINTS]
    time.sleep(3)  # Litestream replicates once per second
    for process in (litestream, server.process):
        process.kill()
        process.wait()
    for line in restore:
        assert helpers.run_in_shell(line, DATABASE_URL=f"sqlite:///{new}").returncode == 0
    moved = helpers.Server(new)
    assert [get(moved, path, x_api_key=key).body for path in ENDPOINTS] == before
    moved.stop()


@pytest.fixture
def proxy(server, tmp_path):
    """A running nginx with the documented site, in front of the service."""
    port = free_port()
    site = (DEPLOY / "nginx.conf").read_text()
    site = site.replace("server 127.0.0.1:8000;", f"server 127.0.0.1:{server.port};")
    site = site.replace("listen 80;", f"listen 127.0.0.1:{port};")
    site = site.replace("/var/cache/nginx-articles", f"{tmp_path}/cache")
    main = f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error; user root; worker_processes auto;\n"
    (tmp_path / "nginx.conf").write_text(f"{main}events {{}} http {{ access_log off; {site} }}")
    with listening(["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")], port):
        yield SimpleNamespace(host="127.0.0.1", port=port)


def total(server, key, path=LISTS[1]):
    response = get(server, path, x_api_key=key)
    return json.loads(response.body)["meta"]["total"] if response.status == 200 else response.status


def test_nginx_passes_the_longest_link_and_stores_no_key(save, server, proxy, key, tmp_path):
    emoji = "\N{PUBLIC ADDRESS LOUDSPEAKER}" * 200
    save(*(article_json(number, title=emoji, category=emoji, keywords=[emoji]) for number in range(3)))
    query = "&".join(f"{name}={quote(emoji)}" for name in ("q", "category", "keyword"))
    path = f"{LISTS[1]}?take=1&skip=1&{query}"
    response, direct = (get(at, path, x_api_key=key) for at in (proxy, server))
    assert (response.status, response.body, response.getheader("Link")) == (200, direct.body, direct.getheader("Link"))
    assert len(response.getheader("Link")) > 14_000
    stored = b"".join(file.read_bytes() for file in (tmp_path / "cache").rglob("*") if file.is_file())
    assert quote(emoji).encode() in stored
    assert key.encode() not in stored


def test_nginx_caches_responses_for_a_second_and_by_key(app, save, sql, server, proxy, key):
    other = helpers.create_key(app, "Other")
    save(article_json(1, contentHtml="x" * 100_000))
    for path in ENDPOINTS:
        for encoding in ("identity", "gzip", "identity"):
            response, direct = (get(at, path, x_api_key=key, Accept_Encoding=encoding) for at in (proxy, server))
            etag = direct.getheader("ETag")
            assert (response.status, response.body, response.getheader("ETag")) == (200, direct.body, etag)
        assert get(proxy, path, x_api_key=key, If_None_Match=etag).status == 304
        assert get(proxy, path, x_api_key="wrong").status == 401
    assert (total(proxy, key), total(proxy, other)) == (1, 0)
    save(article_json(2))

    def wait_for_total(expected):
        wait_for(lambda: total(proxy, key) == expected, lambda: f"{total(proxy, key)}, not {expected}")

    wait_for_total(2)
    time.sleep(0.3)  # the log is flushed every 0.1 seconds
    before = server.log().count("GET /api/public/v1/articles/preview")
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        assert total(proxy, key) == 2
    assert server.log().count("GET /api/public/v1/articles/preview") - before <= 4
    sql("ALTER TABLE article RENAME TO elsewhere")
    wait_for_total(503)
    sql("ALTER TABLE elsewhere RENAME TO article")
    wait_for_total(2)
    sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
    wait_for_total(401)


ODD_PATHS = ['/a"b/', "/a\\", '/\\"', "/a'b", "/$uri", "/a;b{c}", "/#!", "/~x", "/50%", "/café", "/a\tb\nc", "/a b"]


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
