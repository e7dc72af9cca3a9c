"""Pictures of an import: which stay on the old site, where they are, and how they move."""

import re

import pytest
from importer import PICTURE, SITE, post, wordpress

NEW = "https://www.example.com/files"
# in the content of a WordPress post -> the path below the new URL, or None if the URL stays
PICTURES = {
    f'<img src="{SITE}/wp-content/a.jpg?w=300&amp;h=2">': "/wp-content/a.jpg",
    '<img src="/b c.png#x">': "/b%20c.png",
    '<img src="//www.blog.example.com/c">': "/c",
    f'<img srcset="{SITE}/d.jpg 1x, {SITE}/e.jpg 2x">': "/d.jpg",
    f'<video poster="{SITE}/f.jpg"></video>': "/f.jpg",
    f'<video src="{SITE}/f.mp4"></video>': "/f.mp4",
    f'<a href="{SITE}/menu.pdf">menu</a>': "/menu.pdf",
    f'<a href="{SITE}/g.JPG">g</a>': "/g.JPG",
    "<p style=\"background: url('/h.webp')\">h</p>": "/h.webp",
    '<img src="https://files.example/2026/i.jpg">': "/2026/i.jpg",  # the host of an attachment
    '<img src="https://i0.wp.com/blog.example.com/m.jpg?fit=9">': "/m.jpg",  # Jetpack's proxy
    '<img src="https://cdn.example/j.jpg">': None,
    f'<img src="{SITE}/picture.php?id=1">': None,
    '<a href="https://cdn.example/k.jpg">k</a>': None,
    '<img src="data:image/png;base64,AA">': None,
}
BANNER = {"content": f'<img src="{SITE}/e.jpg">', "meta": {"_thumbnail_id": 30}}
ATTACHMENT = PICTURE | {"post_id": 31, "attachment_url": "https://files.example/31.jpg"}


@pytest.fixture
def export():
    return {"a.xml": wordpress(PICTURE, ATTACHMENT, *({"content": html} for html in PICTURES), BANNER)}


def test_pictures_of_the_old_site_move(importer, export):
    report = importer.imports(export, "--pictures-url", f"{NEW}/")
    assert "Pictures stay at their hosts: cdn.example (1): https://cdn.example/j.jpg; blog.example.com (1): " in report
    articles = importer.articles()
    for number, path in enumerate(PICTURES.values(), start=3):
        html = articles[f"post-{number}"]["contentHtml"]
        assert (f"{NEW}{path}" in html) == (NEW in html) == (path is not None)
    assert articles[f"post-{len(articles) + 2}"]["bannerUrl"] == f"{NEW}/30.jpg"


def test_report_counts_the_pictures_that_stay_at_each_host(importer, export):
    report = importer.imports(export)
    counts = re.findall(r"([a-z0-9.]+) \((\d+)\): https", report)
    assert counts == [("blog.example.com", "12"), ("files.example", "1"), ("i0.wp.com", "1"), ("cdn.example", "1")]


def test_pictures_beside_files_move_with_their_folder(importer):
    """Whether or not they are in the folder: the old site may have built them."""
    text = "![](lost.jpg) ![](../../images/a&b%20c.jpg) ![](/static.jpg) [y](./y.png) ![](../../../out.jpg)"
    files = {"site/content/blog/a.md": post("image: ../../assets/x.png", text), "site/b.md": post("image: ../x.png")}
    report = importer.imports(files, "--pictures-url", NEW)
    assert re.search(r"relative URLs .*\(1\): a\b", report)
    assert re.search(r"banner \.\./x.png \(1\): b\b", report)
    article = importer.articles()["a"]
    assert article["bannerUrl"] == f"{NEW}/assets/x.png"
    paths = ["/content/blog/lost.jpg", "/images/a%26b%20c.jpg", "/static.jpg", "/content/blog/y.png"]
    urls = re.findall('(?:src|href)="(.*?)"', article["contentHtml"])
    assert urls == [*(NEW + path for path in paths), "../../../out.jpg"]


def test_pictures_that_have_moved_stay_and_are_not_counted(importer):
    assert importer.imports({"a.md": post("", f"![]({NEW}/a.jpg)")}, "--site", SITE, "--pictures-url", NEW) == ""
    assert f'src="{NEW}/a.jpg"' in importer.only()["contentHtml"]
