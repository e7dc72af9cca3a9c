"""Import of CSV files."""

import csv
import io

import pytest

FUTURE = "2099-01-31T09:30:00.000Z"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_of_a_spreadsheet_is_imported(importer, separator):
    """Spreadsheets write a byte order mark, CRLF, line breaks in cells, and trailing empty rows."""
    title, html = 'Äpfel, "süß"; sauer', "<p>a;\n\nb,\tc</p>"
    rows = [
        ["id", "title", "Slug", "publishedAt", "views", "tags", "contentHtml", "Comment", "tags", "Tags"],
        ["1", title, "aepfel", "2026-01-31 09:30", "12", "Obst, Süßes", html, "x", "x", "x"],
        ["2", "Später", "spaeter", FUTURE, "", "", "Text & <\nmehr\r\n\r\nText", "", "", ""],
        [""] * 10,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    first_line = "sep=|\r\n" if separator == "|" else ""
    importer.write({"a.csv": ("\ufeff" + first_line + text.getvalue()).encode()})
    printed = importer.imports("a.csv")
    assert all(f"{name} (1)" in printed for name in ("Tags", "Comment", "tags in column 9"))
    first, second = importer.articles().values()
    assert (first["id"], first["title"], first["views"]) == ("1", title, 12)
    assert (first["keywords"], first["contentHtml"]) == (["Obst", "Süßes"], html)
    assert (second["publishedAt"], second["contentHtml"]) == (FUTURE, "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>Text</p>")


@pytest.mark.parametrize("value", ["WAHR", "ja", "x", "#REF!", "2"])
def test_invalid_draft_value_names_its_row(importer, value):
    importer.write({"a.csv": f"Title;Body;Date;Draft\nA;x;01.03.2026;nein\nB;x;01.03.2026;{value}\n"})
    lines = importer.run("import", "a.csv").stderr.splitlines()
    assert [line.partition(" must be")[0] for line in lines[1:]] == [
        "a.csv, row 2, slug 'a': Draft: 'nein'",
        f"a.csv, row 3, slug 'b': Draft: '{value}'",
    ]


def test_draft_and_visibility_columns_hide_articles(importer):
    importer.write(
        {
            "a.csv": "Title;Body;Date;Draft?;Visibility\nA;x;01.03.2026;Yes;Public\n"
            "B;x;01.03.2026;No;Private\nC;x;01.03.2026;No;Public\n"
        }
    )
    (line,) = importer.imports("a.csv").splitlines()
    assert "Visibility: private (1): b" in line
    assert importer.states() == {"a": "draft", "b": "draft", "c": "published"}


def test_null_values_of_database_exports_are_empty(importer):
    importer.write({"a.csv": "title,body,date,description,draft,tags\nA,x,2026-01-01,NULL,\\N,NULL\n"})
    assert importer.imports("a.csv") == ""
    article = importer.only()
    assert ("metaDesc" in article, article["keywords"], article["status"]) == (False, [], "published")


@pytest.mark.parametrize("name", ["a.tsv", "a.xlsx", "a.ods"])
def test_other_spreadsheet_formats_are_a_usage_error(importer, name):
    importer.write({name: "title\tbody\n"})
    result = importer.run("import", name)
    assert (result.exit_code, "CSV" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["draft", "Date", "Status"])
def test_column_that_decides_what_is_public_appears_once(importer, name):
    importer.write({"a.csv": f"title,body,{name},{name}\nA,x,,\n"})
    assert f"'{name}' twice" in importer.run("import", "a.csv").stderr


@pytest.mark.parametrize("error", ["#REF!", "#N/A", "#NAME?", "#BEZUG!", "#NV"])
@pytest.mark.parametrize("column", ["title", "slug", "tags", "description"])
def test_errors_of_spreadsheets_are_mistakes(importer, column, error):
    row = {"title": "A", "slug": "a", "tags": "", "description": "", "body": "x"} | {column: error}
    importer.write({"a.csv": f"{','.join(row)}\n{','.join(row.values())}\n"})
    assert f"{column}: '{error}'" in importer.run("import", "a.csv").stderr


def test_text_with_a_url_in_angle_brackets_is_plain_text(importer):
    importer.write({"a.csv": 'title,body,date\nA,"one\n\ntwo <bob@example.com>",2026-01-01\n'})
    assert importer.imports("a.csv") == ""
    assert importer.only()["contentHtml"] == "<p>one</p>\n<p>two &lt;bob@example.com&gt;</p>"
