"""Tests of /openapi.json with other projects' tools: a validator, and schemathesis."""

import json
import subprocess
import sys
from pathlib import Path

from helpers import article_json, get
from openapi_spec_validator import validate


def test_validator_accepts_it(server):
    validate(json.loads(get(server, "/openapi.json").body))


def test_schemathesis_finds_no_response_that_departs_from_it(save, server, key, tmp_path):
    save(*(article_json(number, title=f"Café {number}") for number in range(30)))
    command = [Path(sys.executable).with_name("schemathesis"), "run", f"http://127.0.0.1:{server.port}/openapi.json"]
    options = [
        "--header",
        f"x-api-key: {key}",
        "--checks",
        "all",
        "--seed",
        "1",
        "--max-examples",
        "300",
        "--generation-database",
        "none",
    ]
    result = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-1000:]
