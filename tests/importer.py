"""Shared by the import tests: a customer to import for, and article files."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import Any

from click.testing import Result
from helpers import PROJECT, write_files

Files = dict[str, str | bytes]

SITE = "https://blog.example.com"
PICTURE = {"post_type": "attachment", "post_id": 30, "attachment_url": f"{SITE}/30.jpg"}
DATE = "2026-01-31 09:30:00"
WORDPRESS_POST = {"post_type": "post", "status": "publish", "post_date_gmt": DATE, "post_modified_gmt": DATE}
PLAIN_TAGS = {"content": "content:encoded", "excerpt": "excerpt:encoded", "title": "title", "link": "link"}
GHOST_POST = {"type": "post", "status": "published", "published_at": "2026-01-31T09:30:00.000Z", "html": "<p>Text</p>"}


def post(front_matter: str = "", text: str = "", *, title: str = "A", date: str = "2026-01-01") -> str:
    """Return an article file with a title, a date, and this front matter and text."""
    return f"---\ntitle: {title}\ndate: {date}\n{front_matter}\n---\n{text}\n"


def wordpress(*posts: dict[str, Any], site: str = SITE) -> str:
    """Return an export of posts (post-1, post-2 and so on), given as dictionaries of elements.

    `meta` is a dictionary of custom fields, and `raw` is XML.
    """
    text = read_data("wordpress.xml").partition("\t<item>")[0]
    for number, post in enumerate(posts, start=1):
        item = {"post_id": number, "post_name": f"post-{number}", "title": "A"} | WORDPRESS_POST | post
        text += f"<item>{item.pop('raw', '')}"
        for key, value in item.pop("meta", {}).items():
            text += f"<wp:postmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value>{value}</wp:meta_value></wp:postmeta>"
        for name, value in item.items():
            text += f"<{(tag := PLAIN_TAGS.get(name, f'wp:{name}'))}><![CDATA[{value}]]></{tag}>"
        text += "</item>"
    return f"{text}</channel></rss>".replace(SITE, site)


def ghost(*posts: dict[str, Any], **tables: Any) -> Files:
    """Return a file with an export of posts (a0, a1 and so on), given as dictionaries of columns."""
    rows = [{"id": f"{n:024}", "title": "A", "slug": f"a{n}"} | GHOST_POST | post for n, post in enumerate(posts)]
    return {"ghost.json": json.dumps({"db": [{"data": {"posts": rows, "tags": [], "posts_tags": []} | tables}]})}


class Importer:
    """Import into the customer Acme from a temporary folder, and read what was stored.

    A source is a path, or files to write first: `imports({"posts/a.md": "…"})` imports the folder `posts`.
    """

    def __init__(self, articles: Callable[..., Result], folder: Path) -> None:
        """`articles` runs `flask articles` with the given arguments."""
        self.articles_command, self.folder = articles, folder

    def write(self, files: Files) -> list[str]:
        """Write files, and return the top-level files and folders."""
        write_files(self.folder, files)
        return list(dict.fromkeys(name.partition("/")[0] for name in files))

    def run(self, command: str, *arguments: Any, **options: Any) -> Result:
        """Run `flask articles COMMAND ARGUMENTS`."""
        lists = (self.write(argument) if isinstance(argument, dict) else [argument] for argument in arguments)
        return self.articles_command(command, *chain.from_iterable(lists), **options)

    def imports(self, *arguments: Any) -> str:
        """Import, publishing, and check that importing again is silent and changes nothing; return what stderr said."""
        first, second = (self.run("import", *arguments, "--publish") for _ in range(2))
        assert first.exit_code == 0, first.stderr
        assert second.stdout.startswith("0 new, 0 changed, "), second.stdout
        assert second.stderr == ""
        return first.stderr

    def rejects(self, *arguments: Any, **options: Any) -> str:
        """Check that an import fails and changes nothing; return its mistakes, one on each line."""
        before = self.run("export").stdout
        result = self.run("import", *arguments, **options)
        assert self.run("export").stdout == before
        return "\n".join(error_lines(result))

    def states(self) -> dict[str, str]:
        """Return the state of each article by slug."""
        rows = map(json.loads, self.run("list", "--json").stdout.splitlines())
        return {row["slug"]: row["state"] for row in rows}

    def articles(self) -> dict[str, dict[str, Any]]:
        """Return the exported articles by slug, without derived fields."""
        lines = self.run("export").stdout.split("\n")[:-1]  # a text may contain other line separators
        return {record["slug"]: record for record in map(json.loads, lines)}

    def values(self, field: str) -> dict[str, Any]:
        """Return a field of each article by slug."""
        return {slug: article.get(field) for slug, article in self.articles().items()}

    def only(self) -> dict[str, Any]:
        """Return the only article."""
        (article,) = self.articles().values()
        return article


def error_lines(result: Result) -> list[str]:
    """Return the mistakes that a failed import printed, without its heading and its advice."""
    assert (result.exit_code, result.stdout) == (1, "")
    assert isinstance(result.exception, SystemExit), result.exception
    heading, *lines = result.stderr.splitlines()
    assert heading.startswith("Error: Nothing was written")
    return [line for line in lines if not line.startswith("To import the valid articles")]


def read_data(name: str) -> str:
    """Return the text of a file in `tests/data`."""
    return (PROJECT / "tests/data" / name).read_text("utf-8")


def counts(result: Result) -> dict[str, int]:
    """Return the numbers in the summary of a successful import that are not 0: `{"new": 2, "left alone": 1}`."""
    assert result.exit_code == 0, result.output
    numbers = re.findall(r"(\d+) ([a-z ]+)", result.stdout.splitlines()[-1].partition(" (")[0])
    return {name: int(number) for number, name in numbers if number != "0"}


@contextmanager
def fake_server(respond: Callable[[Any], tuple[int, dict[str, str], str]]) -> Iterator[str]:
    """Yield the host and port of a server that sends what `respond` returns: a status, headers and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = respond(self)
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body.encode()))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
