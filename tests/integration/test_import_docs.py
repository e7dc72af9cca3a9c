"""Tests that run the commands of docs/import.md on what each of its sections is about."""

import re
import shlex
from types import SimpleNamespace

import pytest
from helpers import LISTS, PROJECT, client_with_key, run_command

from commands.articles import articles as commands
from schemas import ArticleImportSchema

DOCS = (PROJECT / "docs/import.md").read_text("utf-8")


def read(name):
    return (PROJECT / "tests/data" / name).read_text("utf-8")


def section(title):
    return re.split(r"^## ", DOCS.split(f"\n## {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def block(language, title):
    """Return the first code block in a language of a section."""
    return re.search(rf"```{language}\n(.*?)```", section(title), re.DOTALL)[1]


@pytest.fixture
def site(app, tmp_path, monkeypatch):
    """A folder, the customer that the page's own command creates, and a function that runs a section's commands."""
    monkeypatch.chdir(tmp_path)
    (create,) = re.findall(r"^flask keys create .*$", DOCS, re.MULTILINE)
    client = client_with_key(app, run_command(app, *shlex.split(create)[1:]).stdout.strip())

    def run(line):
        result = run_command(app, *shlex.split(line)[1:])
        assert result.exit_code == 0, result.stderr
        return result.stdout

    def follow(title, number):
        """Run a section's two imports, the second one twice; return the articles that are published then."""
        preview, line = block("sh", title).splitlines()
        assert preview == f"{line} --dry-run"
        assert run(preview).splitlines()[-1].startswith(f"{number} new, 0 changed, 0 unchanged")
        assert run("flask articles list") == ""
        assert run(line).startswith(f"{number} new, 0 changed, 0 unchanged")
        assert run(line) == f"0 new, 0 changed, {number} unchanged\n"
        return {article["slug"]: article for article in client.get(LISTS[0]).get_json()["data"]}

    def write(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")

    return SimpleNamespace(follow=follow, run=run, write=write)


def test_wordpress_section_imports_an_export(site):
    site.write("export.xml", read("wordpress.xml"))
    assert set(site.follow("WordPress", 8)) == {"smørrebrød", "classic", "old"}


def test_ghost_section_imports_an_export(site):
    site.write("ghost.json", read("ghost.json"))
    articles = site.follow("Ghost", 5)
    assert articles["kaese"]["bannerUrl"] == "https://blog.example.com/content/images/2026/01/cheese.jpg"


def test_markdown_section_imports_a_folder(site):
    site.write("posts/spring-menu.md", block("yaml", "Markdown") + "![Soup](soup.jpg)\n")
    site.write("posts/first-post.md", read("astro/first-post.md"))
    article = site.follow("Markdown", 2)["spring-menu"]
    assert (article["category"], article["keywords"]) == ("News", ["menu", "asparagus"])
    assert article["metaDesc"] == "What we cook in March."
    assert article["publishedAt"] == "2026-03-01T07:00:00.000Z"
    assert article["bannerUrl"] == "https://www.example.com/images/asparagus.jpg"
    assert '<img src="https://www.example.com/blog/soup.jpg"' in article["contentHtml"]


def test_table_section_imports_its_example(site):
    site.write("articles.csv", block("csv", "Table"))
    articles = site.follow("Table", 2)
    assert set(articles) == {"spring-menu"}
    assert articles["spring-menu"]["publishedAt"] == "2026-03-01T07:00:00.000Z"


def test_article_of_the_json_section_is_imported(site):
    site.write("first.jsonl", block("json", "JSON"))
    assert site.run("flask articles import first.jsonl") == "1 new, 0 changed, 0 unchanged (new: 1 published)\n"


def test_options_and_fields_of_the_page_exist():
    options = {option for command in commands.commands.values() for param in command.params for option in param.opts}
    assert set(re.findall(r"`(--[a-z][a-z-]+)", DOCS)) <= options
    fields = {field.data_key or name for name, field in ArticleImportSchema().fields.items()}
    assert set(block("csv", "Table").splitlines()[0].split(",")) <= fields
