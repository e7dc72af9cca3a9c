"""README and documentation match the code: commands, variables, fields, examples and links."""

import json
import re
import shlex

import click
from click.testing import CliRunner
from helpers import ENDPOINTS, POSTGRESQL, PROJECT, blocks, read_page, run_line, run_section, section
from marshmallow import missing

import seed
from app import main, read_settings
from commands.support.groups import GROUPS
from schemas import SORT_COLUMNS, ArticleImportSchema, ArticlePreviewSchema, ArticleSchema, ListQuerySchema
from settings import __version__

FILES = [*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")]
EVERYTHING = "\n".join(path.read_text("utf-8") for path in FILES)
README, API, CONTRIBUTING = read_page("README"), read_page("docs/api"), read_page("CONTRIBUTING")


def names_in_table(text):
    """Return the names in backticks in the first column of a table."""
    return [name for row in re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE) for name in re.findall(r"`(.*?)`", row)]


def json_names(schema):
    return [field.data_key or name for name, field in schema.fields.items()]


def test_readme_quick_start_gives_the_shown_response(app, monkeypatch):
    seed_line = re.search(r"python seed\.py (.*?) &&", blocks(README, "sh")[0])[1]
    monkeypatch.setenv("DATABASE_URL", app.config["DATABASE_URL"])
    assert CliRunner().invoke(seed.main, shlex.split(seed_line)).exit_code == 0
    _, option, header, url = shlex.split(blocks(README, "sh")[1])
    assert (option, url[:21]) == ("-H", "http://127.0.0.1:8000")
    response = app.test_client().get(url, headers=[header.split(": ")])
    assert response.get_json() == json.loads(blocks(section(README, "Requests"), "json")[0])


def test_version_is_the_same_everywhere(client):
    assert CliRunner().invoke(main, ["--version"]).stdout == f"Article Delivery API {__version__}\n"
    assert client.get("/openapi.json").get_json()["info"]["version"] == __version__
    latest = re.search(r"^## \[(.+)\] - \d{4}-\d\d-\d\d$", read_page("CHANGELOG"), re.MULTILINE)
    assert latest[1] == __version__


def test_readme_lists_each_setting_with_its_default():
    rows = re.findall(r"^\| `([A-Z_]+)` \| `?([^`|]*?)`? \|", section(README, "Settings"), re.MULTILINE)
    assert rows == [(name, str(value or "none")) for name, value in read_settings({}).items()]


def test_reference_lists_each_endpoint(client):
    listed = names_in_table(section(API, "Endpoints"))
    assert {*ENDPOINTS, *client.get("/openapi.json").get_json()["paths"]} <= set(listed)
    for path in (name for name in listed if name.startswith("/")):
        assert client.get(path, buffered=True).status_code == 200


def test_reference_lists_each_parameter_with_its_default():
    text, schema = section(API, "Parameters"), ListQuerySchema()
    rows = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`|none) \|", text, re.MULTILINE)
    defaults = ["" if field.load_default is missing else str(field.load_default) for field in schema.fields.values()]
    assert rows == list(zip(json_names(schema), defaults, strict=True))
    assert all(f"`{name}`" in text for name in SORT_COLUMNS)


def test_tables_list_each_field():
    table, sentence = section(API, "Fields").split("A preview has")
    assert names_in_table(table) == json_names(ArticleSchema())
    assert re.findall(r"`(\w+)`", sentence.split(".")[0]) == json_names(ArticlePreviewSchema())
    assert set(names_in_table(section(read_page("docs/fields"), "Fields"))) == set(json_names(ArticleImportSchema()))


def test_readme_commands_for_own_articles_work(app, run, sql, tmp_path, monkeypatch):
    """With the demo present, as after the quick start."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", app.config["DATABASE_URL"])
    assert CliRunner().invoke(seed.main, ["--articles", "1"]).exit_code == 0
    page = section(README, "Your own articles")
    (tmp_path / "articles.json").write_text(blocks(page, "json")[0])
    _, imported, listed = run_section(app, README, "Your own articles")
    assert f"`{imported.strip()}`" in page
    assert listed.split("\t")[:3] == ["published", "2026-03-01T07:00:00.000Z", "spring-menu"]
    if not POSTGRESQL:
        backup, restore = blocks(page, "sh")[1].splitlines()
        run_line(app, backup)
        sql("DELETE FROM article")
        run_line(app, f"{restore} --yes")  # instead of the confirmation
        assert ("spring-menu",) in sql("SELECT slug FROM article")


COMMANDS = [seed.main, *(group.get_command(None, name) for group in GROUPS for name in group.list_commands(None))]
OPTIONS = {option for command in COMMANDS for param in command.params for option in param.opts if option[:2] == "--"}


def find_command(app, group, name):
    return app.cli.commands[group].get_command(None, name)


def test_flask_commands_in_shell_blocks_are_valid(app):
    """Options and number of arguments; files need not exist."""
    shell = "\n".join(re.findall(r"^```sh\n(.*?)^```", EVERYTHING, re.DOTALL | re.MULTILINE))
    shell = re.sub('su - articles -c "(.*?)"', r"\1", shell)
    lines = re.findall(r"\bflask (?:--app \S+ )?(\w+) (\w+)([^\n|<>&;]*)", shell)
    assert lines
    for group, name, rest in lines:
        command = find_command(app, group, name)
        values, left_over, _ = command.make_parser(click.Context(command)).parse_args(shlex.split(rest, comments=True))
        required = [param.name for param in command.params if param.required]
        assert (left_over, all(map(values.get, required))) == ([], True), (group, name, rest)


def test_commands_and_options_in_text_exist(app):
    named = re.findall(r"\bflask (\w+) (\w+)([^\n`|&]*)", EVERYTHING)
    assert named
    for group, name, rest in named:
        options = {option for param in find_command(app, group, name).params for option in param.opts} | {"--help"}
        assert set(re.findall(r"(?<= )--[a-z-]+", rest.partition(" -- ")[0])) <= options, (group, name, rest)
    for name in ("README", *(f"docs/{page}" for page in ("import", "nightly", "move", "publish", "fields", "operate"))):
        assert set(re.findall("`(--[a-z][a-z-]+)", read_page(name))) <= OPTIONS, name


def test_each_option_is_documented():
    assert set(re.findall("(?<![a-z-])--[a-z][a-z-]+", EVERYTHING)) >= OPTIONS - {"--help"}


def test_links_point_to_existing_files_and_headings():
    for name in [*FILES, *PROJECT.glob("examples/**/README.md")]:
        for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", name.read_text("utf-8")):
            target = name.parent / path if path else name
            assert target.exists(), (name, path)
            if anchor:
                titles = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
                anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
                assert anchor in anchors, (name, path, anchor)


def test_modules_import_only_from_rows_below_in_contributing():
    rows = re.findall(r"^\| `([\w.]+)/?` \|", section(CONTRIBUTING, "Where things are"), re.MULTILINE)
    modules = [row.removesuffix(".py") for row in rows]
    packages = {path.parent.name for path in PROJECT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert {path.stem for path in PROJECT.glob("*.py")} | packages == set(modules)
    for number, name in enumerate(modules):
        for path in (*PROJECT.glob(f"{name}.py"), *PROJECT.glob(f"{name}/**/*.py")):
            imported = re.findall(r"^ *(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE)
            assert {*imported} & {*modules[:number]} == set(), path
