"""Tests of /openapi.json with other projects' tools: a validator, schemathesis, generators of typed clients."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
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


TYPESCRIPT = ["@types/node@26.6.6", "openapi-fetch@0.17.0", "openapi-typescript@7.13.0", "typescript@5.9.3"]
TYPESCRIPT_OPTIONS = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"]
PYTHON_PROGRAM = """
import sys

from typed_client import AuthenticatedClient
from typed_client.api.articles import get_article_list
from typed_client.models import Article, ArticleList

client = AuthenticatedClient(sys.argv[1], sys.argv[2], prefix="", auth_header_name="x-api-key")
found: list[Article] = []
total = 1
while len(found) < total:
    page = get_article_list.sync(client=client, take=100, skip=len(found))
    assert isinstance(page, ArticleList) and page.data
    found += page.data
    total = page.meta.total
for article in found:
    print(article.slug, article.published_at.year, len(article.schema_markup.graph), *article.keywords)
"""
TYPESCRIPT_PROGRAM = """
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [baseUrl, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": key } });
const found: components["schemas"]["Article"][] = [];
let total = 1;
while (found.length < total) {
  const query = { take: 100, skip: found.length, orderBy: "publishedAt" } as const;
  const { data, error } = await client.GET("/api/public/v1/articles", { params: { query } });
  if (error || !data.data.length) throw new Error(error?.detail ?? "an empty page");
  found.push(...data.data);
  total = data.meta.total;
}
for (const article of found) {
  const graph: number = article.schemaMarkup["@graph"].length;
  console.log(article.slug, article.publishedAt.slice(0, 4), graph, ...article.keywords);
}
"""


LINES = [f"slug-{number} 2025 1 one two" for number in reversed(range(230))]


@pytest.fixture
def run_program(save, server, key, tmp_path):
    """Run commands in a folder that holds the description, the last one with the service's URL and a key.

    Return the lines that the last one prints, of 230 articles.
    """
    save(*(article_json(number) for number in range(230)))
    (tmp_path / "openapi.json").write_bytes(get(server, "/openapi.json").body)
    path = f"{Path(sys.executable).parent}:{tmp_path}/node_modules/.bin:{os.environ['PATH']}"

    def run_program(*commands):
        for command in (*commands[:-1], [*commands[-1], f"http://127.0.0.1:{server.port}", key]):
            options = {"cwd": tmp_path, "env": os.environ | {"PATH": path}, "timeout": 300}
            result = subprocess.run(command, **options, capture_output=True, text=True)
            assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout.splitlines()

    return run_program


def test_generated_python_client_reads_all_articles(run_program, tmp_path):
    (tmp_path / "page_through.py").write_text(PYTHON_PROGRAM)
    generate = ["openapi-python-client", "generate", "--path", "openapi.json", "--fail-on-warning", "--meta", "none"]
    lines = run_program(
        [*generate, "--output-path", "typed_client"],
        ["mypy", "--strict", "--follow-imports=silent", "page_through.py"],
        ["python", "page_through.py"],
    )
    assert lines == LINES


def test_generated_typescript_client_reads_all_articles(run_program, tmp_path):
    (tmp_path / "page-through.mts").write_text(TYPESCRIPT_PROGRAM)
    lines = run_program(
        ["npm", "install", "--no-audit", "--no-fund", *TYPESCRIPT],
        ["openapi-typescript", "openapi.json", "-o", "schema.d.ts"],
        ["tsc", *TYPESCRIPT_OPTIONS, "page-through.mts"],
        ["node", "page-through.mjs"],
    )
    assert lines == LINES
