"""Tests of /openapi.json with others' tools: validators, linters, schemathesis, and the typed clients of examples/."""

import json
import re
import shutil
import sqlite3
import threading
from contextlib import closing

import pytest
from helpers import LISTS, PROJECT, SITEMAP, article_json, blocks, get, read_page, run_in_shell, section
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

LINTERS = ["@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"]
LINES = [f"2026-01-07 slug-{number} 1" for number in range(230)]


@pytest.fixture
def document(server):
    return json.loads(get(server, "/openapi.json").body)


@pytest.fixture
def run_lines(server, key, tmp_path, monkeypatch):
    """Run lines of a shell in the test's folder, with the service's URL and key, and return what they print."""
    monkeypatch.chdir(tmp_path)
    url = f"http://127.0.0.1:{server.port}"
    variables = {"ARTICLES_URL": f"{url}/api/public/v1", "ARTICLES_KEY": key, "REDOCLY_TELEMETRY": "off"}

    def run_lines(lines):
        result = run_in_shell(lines.replace("http://127.0.0.1:8000", url), **variables)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run_lines


def test_linters_and_a_validator_find_nothing(document, run_lines, tmp_path):
    validate(document)
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / ".spectral.json").write_text('{"extends": ["spectral:oas"]}')
    run_lines(f"npm install --no-audit --no-fund {' '.join(LINTERS)}")
    linted = run_lines("npx redocly lint --extends recommended --format json openapi.json")
    assert json.loads(linted[linted.index("{") :])["problems"] == []
    run_lines("npx spectral lint --fail-severity hint openapi.json")


def errors_in(document, schema, instance):
    """Return what is wrong with an instance of a schema, which may refer to the document's components."""
    return list(Draft202012Validator(schema | {"components": document["components"]}).iter_errors(instance))


def test_every_example_is_valid(document):
    checked = 0

    def check(node):
        nonlocal checked
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            check(child)
        if isinstance(node, dict) and isinstance(node.get("schema"), dict):
            examples = [example["value"] for example in node.get("examples", {}).values()]
            for example in [*examples, *([node["example"]] if "example" in node else [])]:
                assert errors_in(document, node["schema"], example) == []
                checked += 1
        if isinstance(node, dict) and isinstance(node.get("examples"), list):
            assert not any(errors_in(document, node, example) for example in node["examples"])
            checked += len(node["examples"])

    check(document)
    assert checked > 40


def assert_described(document, path, response):
    """Check that a response's status, headers and body are as the document says."""
    described = document["paths"][path]["get"]["responses"]
    found = described.get(str(response.status), described["default"])
    found = document["components"]["responses"][found["$ref"].split("/")[-1]] if "$ref" in found else found
    assert all(response.getheader(name) for name in found.get("headers", {}) if name != "Link")
    if "content" in found:
        ((media_type, content),) = found["content"].items()
        assert response.getheader("Content-Type") == media_type
        assert errors_in(document, content["schema"], json.loads(response.body)) == []
    else:
        assert response.body == b""


def test_real_responses_of_every_kind_are_as_described(document, save, server, sql, key):
    save(*(article_json(number) for number in range(3)))
    paths = (*LISTS, SITEMAP)
    requests = [
        (200, "GET", {}),
        (304, "GET", {"If_None_Match": "*"}),
        (400, "GET", {"Transfer_Encoding": "gzip"}),
        (401, "GET", {"x_api_key": ""}),
        (401, "GET", {"x_api_key": "wrong"}),
        (405, "DELETE", {}),
        (413, "POST", {"Content_Length": "70000"}),
        (431, "GET", {"X": "x" * 17_000}),
    ]
    responses = [
        (status, path, get(server, path, method, **{"x_api_key": key} | headers))
        for path in paths
        for status, method, headers in requests
    ]
    responses += [(400, path, get(server, f"{path}?take=0&q={'x' * 201}", x_api_key=key)) for path in LISTS]
    responses += [(200, path, get(server, f"{path}?skip=9", x_api_key=key)) for path in LISTS]
    responses += [(200, "/healthz", get(server, "/healthz")), (404, SITEMAP, get(server, "/nowhere"))]
    with closing(sqlite3.connect(server.database)) as other, other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute("UPDATE article SET updated_at = '2025-12-31 unreadable'")
    responses.append((500, SITEMAP, get(server, SITEMAP, x_api_key=key)))
    sql("ALTER TABLE article RENAME TO hidden")
    responses += [(503, path, get(server, path, x_api_key=key)) for path in (*paths, "/healthz")]
    for status, path, response in responses:
        assert response.status == status, path
        assert_described(document, path, response)


def test_schemathesis_finds_no_response_that_departs_from_it(save, run_lines, key):
    save(*(article_json(number, title=f"Café {number}") for number in range(30)))
    options = "--checks all --seed 1 --max-examples 300 --generation-database none"
    base = "http://127.0.0.1:8000"
    run_lines(f"schemathesis run {base}/openapi.json --url {base} --header 'x-api-key: {key}' {options}")


@pytest.mark.parametrize(("language", "section_title"), [("typescript", "TypeScript"), ("python", "Python")])
def test_typed_client_reads_every_article_twice(save, server, sql, run_lines, tmp_path, language, section_title):
    """The database is away at first (503). The second time, nothing has changed (304)."""
    save(*(article_json(number, publishedAt="2026-01-06T23:30:00.000Z") for number in range(230)))
    shutil.copytree(PROJECT / "examples/clients" / language, tmp_path, dirs_exist_ok=True)
    (program,) = tmp_path.glob("list*.*")
    text = program.read_text()
    loop = text[re.search(r"^(for|try)\b", text, re.MULTILINE).start() :]
    program.write_text(text + loop)
    (commands,) = blocks(section(read_page("examples/clients/README"), section_title), "sh")
    *prepare, run = re.sub("^(export|pip install) .*\n", "", commands, flags=re.MULTILINE).splitlines()
    run_lines("\n".join(["set -e", *prepare]))
    assert "invalid_key: The API key in the x-api-key header is not valid." in run_lines(
        f"! ARTICLES_KEY=wrong {run} 2>&1"
    )
    sql("ALTER TABLE article RENAME TO hidden")
    restore = threading.Timer(2, sql, ["ALTER TABLE hidden RENAME TO article"])
    restore.start()
    printed = run_lines(f"SITE_TIMEZONE=Europe/Berlin {run}").splitlines()
    restore.join()
    assert sorted(printed) == sorted(LINES * 2)
    server.wait_for_log(r"(?s)(/articles 304 .*){3}")
    statuses = re.findall(r"/articles (\d+) ", server.log())
    assert statuses == ["401", "503", "200", "200", "200", "304", "304", "304"]
