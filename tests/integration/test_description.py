"""/openapi.json in third-party tools: a validator, linters, Schemathesis, and the typed clients of examples/."""

import json
import re
import threading

import pytest
from helpers import PROJECT, article_json, blocks, get, read_page, run_in_shell, section
from openapi_spec_validator import validate

LINTERS = ["@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"]
LINES = [f"2026-01-07 slug-{number} 1" for number in range(230)]


@pytest.fixture
def run_lines(server, key, tmp_path, monkeypatch):
    """Run shell commands in the test's folder with the service's URL and key; return their output."""
    monkeypatch.chdir(tmp_path)
    url = f"http://127.0.0.1:{server.port}"
    variables = {"ARTICLES_URL": f"{url}/api/public/v1", "ARTICLES_KEY": key, "REDOCLY_TELEMETRY": "off"}

    def run_lines(lines):
        result = run_in_shell(lines.replace("http://127.0.0.1:8000", url), **variables)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run_lines


def test_validator_and_linters_find_no_problems(server, run_lines, tmp_path):
    (tmp_path / "openapi.json").write_bytes(get(server, "/openapi.json").body)
    validate(json.loads((tmp_path / "openapi.json").read_bytes()))
    (tmp_path / ".spectral.json").write_text('{"extends": ["spectral:oas"]}')
    run_lines(f"npm install --no-audit --no-fund {' '.join(LINTERS)}")
    linted = run_lines("npx redocly lint --extends recommended --format json openapi.json")
    assert json.loads(linted[linted.index("{") :])["problems"] == []
    run_lines("npx spectral lint --fail-severity hint openapi.json")


def test_schemathesis_finds_no_deviating_response(save, run_lines, key):
    save(*(article_json(number, title=f"Café {number}") for number in range(30)))
    options = f"--header 'x-api-key: {key}' --checks all --seed 1 --max-examples 300 --generation-database none"
    run_lines(f"schemathesis run http://127.0.0.1:8000/openapi.json --url http://127.0.0.1:8000 {options}")


@pytest.mark.parametrize(("language", "section_title"), [("typescript", "TypeScript"), ("python", "Python")])
def test_typed_client_reads_every_article_twice(
    save, server, sql, changing, run_lines, tmp_path, language, section_title
):
    """The database is unavailable at first (503), and unchanged the second time (304). Then the list changes."""
    save(*(article_json(number, publishedAt="2026-01-06T23:30:00.000Z") for number in range(230)))
    copying, commands = blocks(section(read_page("examples/clients/README"), section_title), "sh")
    (copy,) = re.findall(f"^cp .*/{language}/.*", copying, re.MULTILINE)
    run_lines(f"cd '{PROJECT}' && {copy.replace('../my-client', str(tmp_path))}")
    (program,) = tmp_path.glob("list*.*")
    text = program.read_text()
    loop = text[re.search(r"^(for|try)\b", text, re.MULTILINE).start() :]
    program.write_text(text + loop)
    *prepare, run = re.sub("^(export|pip install) .*\n", "", commands, flags=re.MULTILINE).splitlines()
    run_lines("\n".join(["set -e", *prepare]))
    assert "invalid_key: " in run_lines(f"! ARTICLES_KEY=wrong {run} 2>&1")
    sql("ALTER TABLE article RENAME TO hidden")
    threading.Timer(2, sql, ["ALTER TABLE hidden RENAME TO article"]).start()
    printed = run_lines(f"SITE_TIMEZONE=Europe/Berlin {run}").splitlines()
    assert sorted(printed) == sorted(LINES * 2)
    server.wait_for_log(r"(?s)(/sitemap 304 .*){3}")
    first = ["sitemap 401", "sitemap 503", "sitemap 200", *["articles 200"] * 3, "sitemap 304"]
    second = ["sitemap 304", *["articles 304"] * 3, "sitemap 304"]
    assert re.findall(r"/((?:sitemap|articles) \d+) ", server.log()) == first + second
    changing.changes = 1
    printed = run_lines(f"SITE_TIMEZONE=Europe/Berlin ARTICLES_URL={changing.url} {run}").splitlines()
    assert sorted(printed) == sorted([line for line in LINES if "slug-120 " not in line] * 2)
    changing.changes = 3
    assert "changed while they were being read" in run_lines(f"! ARTICLES_URL={changing.url} {run} 2>&1")
