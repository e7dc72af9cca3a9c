"""/openapi.json in third-party tools: a validator, linters and Schemathesis."""

import json

import pytest
from helpers import article_json, get, run_in_shell
from openapi_spec_validator import validate

LINTERS = ["@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"]


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
