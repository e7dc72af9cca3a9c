"""Documented installations: on a fresh Debian, with another server, in a container."""

import json
import os
import re
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from helpers import LISTS, PROJECT, article_json, blocks, copy_project, get, read_page, section, wait_for

from benchmarks.servers import free_port

OPERATE = read_page("docs/operate")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="changes its root folder")


def documented(title):
    """Return the blocks of shell commands under a heading of docs/operate.md."""
    return blocks(section(OPERATE, title), "sh")


def service(port):
    return SimpleNamespace(host="127.0.0.1", port=port)


def is_healthy(server):
    try:
        return get(server, "/healthz").status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def debian(tmp_path_factory):
    """A tar file of a fresh Debian with Python and this machine's trusted certificates."""
    if "FRESH_DEBIAN" in os.environ:
        return os.environ["FRESH_DEBIAN"]
    path = tmp_path_factory.mktemp("debian") / "debian.tar"
    subprocess.run([PROJECT / ".ci/fresh-debian", path], check=True, timeout=300)
    return path


class Machine:
    """A Debian in a folder, with a fake `systemctl` that starts and stops the documented unit."""

    def __init__(self, debian, folder):
        self.root, self.port, self.proxy_port = folder / "root", free_port(), free_port()
        self.environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "-xf", debian], check=True)
        unit = (PROJECT / "deploy/articles.service").read_text()
        values = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
        (self.root / "etc/systemd/system").mkdir(parents=True, exist_ok=True)
        systemctl = self.root / "usr/local/bin/systemctl"
        systemctl.write_text(
            f"""#!/bin/sh -e
case $1 in daemon-reload) exit;; stop|restart)
    process=$(cat /run/articles.pid)
    kill $process
    while kill -0 $process 2>/dev/null; do sleep 0.1; done
esac
[ $1 != stop ] || exit 0
install --directory --owner={values["User"]} --mode={values["StateDirectoryMode"]} /var/lib/{values["StateDirectory"]}
umask {values["UMask"]}
cd {values["WorkingDirectory"]}
command=$(cat /etc/systemd/system/articles.service /etc/systemd/system/articles.service.d/* 2>/dev/null |
    sed -n 's/^ExecStart=//p' | tail -1)
export PORT={self.port}
eval "exec setpriv --reuid={values["User"]} --regid={values["User"]} --clear-groups $command" >>/var/log/articles 2>&1 &
echo $! >/run/articles.pid
"""
        )
        systemctl.chmod(0o755)

    @classmethod
    def install(cls, debian, folder):
        """A machine with the service installed and started as in docs/operate.md."""
        machine = cls(debian, folder)
        machine.unpack("articles")
        machine.run(*documented("Install it on a server"))
        machine.wait_until_healthy()
        return machine

    def run(self, lines):
        """Run shell commands as root on this machine; return their output."""
        command = ["chroot", self.root, "sh", "-ec", lines]
        return subprocess.check_output(command, env=self.environment, text=True, timeout=300)

    def run_as_user(self, lines):
        """Run shell commands as the service's user, who has just logged in; return their output."""
        command = ["chroot", self.root, "su", "-", "articles", "-c", f"set -e\n{lines}"]
        return subprocess.check_output(command, env=self.environment, text=True, timeout=300)

    def import_articles(self, *articles):
        """Import articles from a file that root has copied."""
        (self.root / "root/new.jsonl").write_text("\n".join(map(json.dumps, articles)))
        self.run("install -o articles -m 600 /root/new.jsonl /var/lib/articles/")
        self.run_as_user("flask articles import new.jsonl")

    def total(self, key):
        """Return the number of published articles that the service shows."""
        return json.loads(get(service(self.port), LISTS[1], x_api_key=key).body)["meta"]["total"]

    def unpack(self, name):
        shutil.move(copy_project(self.root), self.root / "opt" / name)

    def wait_until_healthy(self):
        wait_for(lambda: is_healthy(service(self.port)), (self.root / "var/log/articles").read_text, 30)

    def start_nginx(self):
        install, copy, load = documented("nginx")[0].splitlines()
        self.run(f"{install}\n{copy}")
        site = self.root / "etc/nginx/conf.d/articles.conf"
        text = re.sub("listen (.*)80;", rf"listen \g<1>{self.proxy_port};", site.read_text())
        site.write_text(text.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}"))
        (self.root / "etc/nginx/sites-enabled/default").unlink()
        self.run(load.replace("systemctl reload nginx", "nginx"))

    def stop(self):
        servers = "run/nginx.pid", "run/articles.pid", "var/lib/postgresql/15/main/postmaster.pid"
        for path in (self.root / name for name in servers):
            if path.exists():
                os.kill(int(path.read_text().split()[0]), signal.SIGTERM)


@pytest.fixture(scope="module")
def machine(debian, tmp_path_factory):
    machine = Machine.install(debian, tmp_path_factory.mktemp("machine"))
    yield machine
    machine.stop()


def mode(path):
    return path.stat().st_mode & 0o777


@as_root
def test_fresh_debian_serves_behind_nginx_and_is_upgraded(machine):
    """With the commands and files of docs/operate.md."""
    project, data = machine.root / "opt/articles", machine.root / "var/lib/articles"
    (project / "stale.py").touch()
    machine.run("cd /opt/articles && .venv/bin/pip install --quiet apispec")
    assert [mode(path) for path in (project / ".env", data, data / "articles.db")] == [0o600, 0o700, 0o600]
    become_user, *commands = documented("Run commands on the server")[0].splitlines()
    assert become_user == "su - articles"
    key = machine.run_as_user(commands[0]).strip()
    machine.import_articles(article_json(1))
    assert "\tslug-1\t" in machine.run_as_user(commands[1])

    machine.start_nginx()
    for host in ("127.0.0.1", "::1"):
        proxy = SimpleNamespace(host=host, port=machine.proxy_port)
        assert json.loads(get(proxy, LISTS[0], x_api_key=key).body)["meta"]["total"] == 1

    machine.unpack("articles.new")
    machine.run(documented("Upgrade")[0])
    machine.wait_until_healthy()
    assert machine.total(key) == 1
    assert not (project / "stale.py").exists()
    assert [mode(path) for path in (project / ".env", data / "before-upgrade.db")] == [0o600, 0o600]
    assert "apispec" not in machine.run("/opt/articles/.venv/bin/pip list")

    machine.run("rm -r /opt/articles/.venv/lib/python3*/site-packages/flask")  # as with another Python
    machine.run(documented("After the system's Python has changed")[0])
    machine.wait_until_healthy()

    machine.import_articles(article_json(2))
    machine.run(documented("Go back")[0])
    machine.wait_until_healthy()
    assert (project / "stale.py").exists()
    assert machine.total(key) == 1


@as_root
def test_commands_write_files_in_the_folder_of_the_user(machine):
    """Pages name files without a folder."""
    machine.run_as_user('flask keys create "My Site"')
    machine.run_as_user(
        "\n".join(documented("Back up and restore")).replace("restore backup.db", "restore backup.db --yes")
    )
    machine.run_as_user("flask articles export --output articles.jsonl && python /opt/articles/seed.py --articles 0")
    machine.run_as_user("python /opt/articles/seed.py --remove && rm backup.db articles.jsonl")


@as_root
def test_nightly_backup_runs_after_the_documented_installation(machine):
    prepare, copy = documented("Every night")
    machine.run(prepare)
    machine.run_as_user(copy.replace("ssh-copy-id", "ssh -V #"))
    (file,) = machine.root.glob("var/backups/articles/articles-*.db")
    assert mode(file) == 0o600
    variables, backup, rsync = (machine.root / "etc/cron.d/articles").read_text().rsplit("\n", 3)[:3]
    assert "rsync --archive" in rsync
    (path,) = re.findall("^PATH=(.*)$", variables, re.MULTILINE)
    file.rename(file.with_name("articles-20200101T000000Z.db"))
    command = f"env -i PATH={path} sh -c '{backup.split(' articles ', 1)[1]}'"  # as cron does
    assert machine.run_as_user(f"cd / && {command}") == ""
    assert len([*machine.root.glob("var/backups/articles/articles-*.db")]) == 2


@as_root
def test_fresh_debian_serves_from_postgresql_and_is_upgraded(debian, tmp_path):
    """With the server on a socket only."""
    machine = Machine.install(debian, tmp_path)
    setup, back_up, restore = documented("PostgreSQL")
    install, *others = setup.splitlines()
    try:
        machine.run(install)
        settings = machine.root / "etc/postgresql/15/main/conf.d/test.conf"
        settings.write_text("port = 5432\nlisten_addresses = ''\n")
        machine.run("pg_ctlcluster 15 main start")
        machine.run("\n".join(["cd /opt/articles", *others]))
        machine.wait_until_healthy()
        key = machine.run_as_user('flask keys create "My Site"').strip()
        machine.import_articles(article_json(1))

        machine.run(back_up)
        machine.import_articles(article_json(2))
        machine.run(restore)
        assert machine.total(key) == 1
        machine.run_as_user("sh /opt/articles/deploy/backup.sh . articles")
        assert [*machine.root.glob("var/lib/articles/articles-*.dump")]

        machine.unpack("articles.new")
        replaced = {"requirements.txt": "requirements-postgresql.txt"}
        replaced["flask database backup before-upgrade.db"] = re.search(
            "`(pg_dump .* articles)`", section(OPERATE, "PostgreSQL")
        )[1]
        upgrade = documented("Upgrade")[0]
        for sqlite, postgresql in replaced.items():
            upgrade = upgrade.replace(sqlite, postgresql)
        machine.run(upgrade)
        machine.wait_until_healthy()
        machine.import_articles(article_json(2))
        assert machine.total(key) == 2
    finally:
        machine.stop()


@pytest.fixture
def gunicorn(machine):
    """Gunicorn installed and started as in docs/operate.md, and a key."""
    settings = machine.root / "opt/articles/deploy/gunicorn.py"
    settings.write_text(settings.read_text().replace(":8000", f":{machine.port}"))
    (machine.root / "var/log/articles").unlink()
    machine.run(documented("gunicorn")[0])
    machine.wait_until_healthy()
    yield service(machine.port), machine.run_as_user('flask keys create "My Site"').strip()
    shutil.rmtree(machine.root / "etc/systemd/system/articles.service.d")
    machine.run("systemctl restart articles")


@as_root
def test_gunicorn_processes_are_fresh_and_check_keys(machine, gunicorn):
    server, key = gunicorn

    def responses(key):
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: get(server, LISTS[0], x_api_key=key), range(40)))

    for title in ("First", "Second", "Third"):
        machine.import_articles(article_json(1, title=title))
        assert {json.loads(response.body)["data"][0]["title"] for response in responses(key)} == {title}
    assert {response.status for response in responses("wrong")} == {401}


class Container:
    """A container of Buildah instead of Docker, which needs a daemon; the volume is a folder."""

    def __init__(self, project, folder, debian):
        self.folder, self.port, self.data = folder, free_port(), folder / "data"
        self.environment = os.environ | {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs"}
        base = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", base, debian, "/")
        self.buildah("commit", base, "localhost/debian")
        self.buildah("build", "--format=docker", "--build-arg=BASE=localhost/debian", "--tag=service", project)
        self.buildah("from", "--name=service", "service")
        self.buildah("config", "--volume=/data-", "service")  # otherwise buildah mounts a volume of its own
        self.config = json.loads(self.buildah("inspect", "--type=image", "service"))["Docker"]["config"]
        volume = (Path(self.buildah("mount", "service")) / "data").stat()  # Docker copies the owner and the mode
        self.data.mkdir(mode=volume.st_mode & 0o777)
        os.chown(self.data, volume.st_uid, volume.st_gid)
        (folder / "bin").mkdir()
        (folder / "bin/docker").write_text(
            f"""#!/bin/sh -e
if [ $2 = cp ]; then cp {self.data}/${{3#articles:/data/}} $4; exit; fi
while [ $1 != articles ]; do shift; done; shift
exec {" ".join(self.run_command())} "$@"
"""
        )
        (folder / "bin/docker").chmod(0o755)

    def command(self, *arguments):
        return ["buildah", "--root", str(self.folder / "storage"), "--runroot", str(self.folder / "run"), *arguments]

    def buildah(self, *arguments):
        return subprocess.check_output(self.command(*arguments), env=self.environment, text=True).strip()

    def run_command(self, *arguments):
        # Docker can set proxy variables in every container.
        proxies = " ".join(f"--env={name}=http://127.0.0.1:9" for name in ("http_proxy", "HTTP_PROXY"))
        options = f"--volume={self.data}:/data --env=HOST=127.0.0.1 --env=PORT={self.port} {proxies}"
        return self.command("run", *options.split(), "service", "--", *arguments)

    def start(self):
        """Start the service; return the container's process and the service's process id."""
        process = subprocess.Popen(self.run_command(*self.config["Cmd"]), env=self.environment)
        wait_for(lambda: is_healthy(service(self.port)), lambda: "It does not start.", 30)
        pid = process.pid
        while children := "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")).split():
            pid = int(children[0])
        return process, pid

    def check_health(self):
        command = self.run_command(*self.config["Healthcheck"]["Test"][1:])
        return subprocess.run(command, env=self.environment).returncode

    def shell(self, lines):
        values = self.environment | {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return subprocess.check_output(["sh", "-ec", lines], cwd=self.folder, env=values, text=True)


@pytest.fixture
def container(debian, tmp_path):
    project = copy_project(tmp_path)
    shutil.copy(PROJECT / ".dockerignore", project)
    for name in (".env", "instance", "backup.db"):
        (project / name).touch()
    container = Container(project, tmp_path, debian)
    yield container
    container.buildah("rm", "--all")


@as_root
def test_container_runs_as_its_user_and_keeps_the_volume(container, tmp_path):
    compose = yaml.safe_load((PROJECT / "compose.yaml").read_text())["services"]["articles"]
    assert compose["logging"]["options"].keys() == {"max-size", "max-file"}
    assert compose["volumes"] == ["data:" + next(iter(container.config["Volumes"]))]
    assert container.config["User"] == "articles"
    assert f"DATABASE_URL={compose['environment']['DATABASE_URL']}" in container.config["Env"]
    look = "id -u; ls -A; find . -writable; command -v $EDITOR"
    user, *names, editor = container.shell(f"docker compose exec articles sh -c '{look}' || true").split()
    assert (user, editor) == ("10001", "/usr/bin/nano")
    assert not {".env", "instance", "backup.db", "tests", "."} & set(names)

    process, pid = container.start()
    assert container.check_health() == 0
    (tmp_path / "articles.json").write_text(json.dumps([article_json(1)]))
    _, commands, _, back_up, restore = documented("Run it in a container")
    key = container.shell(commands).splitlines()[0]
    before = get(service(container.port), LISTS[0], x_api_key=key).body
    assert json.loads(before)["meta"]["total"] == 1
    container.shell(back_up + restore)
    assert get(service(container.port), LISTS[0], x_api_key=key).body == before
    assert [path.name for path in container.data.glob("*.db")] == ["articles.db"]
    os.kill(pid, signal.SIGTERM)
    assert process.wait(timeout=10) == 0
    assert container.check_health() > 0
