"""Pictures of an import: which stay on the old site, where they are, and how they move."""

import re

import pytest
from importer import PICTURE, SITE, ghost, post, wordpress

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


def test_pictures_of_the_old_site_move_and_are_listed(importer, export):
    report = importer.imports(export, "--pictures-url", f"{NEW}/")
    assert "Pictures stay at their hosts: cdn.example (1): https://cdn.example/j.jpg; blog.example.com (1): " in report
    articles = importer.articles()
    for number, path in enumerate(PICTURES.values(), start=3):
        html = articles[f"post-{number}"]["contentHtml"]
        assert (f"{NEW}{path}" in html) == (NEW in html) == (path is not None)
    assert articles[f"post-{len(articles) + 2}"]["bannerUrl"] == f"{NEW}/30.jpg"


@pytest.mark.parametrize("options", [[], ["--pictures-url", NEW]])
def test_list_has_the_old_url_of_each_picture_once(importer, export, options):
    importer.run("import", export, "--pictures", "list.txt", *options)
    paths = [f"{SITE}{path}" for path in PICTURES.values() if path]
    paths[2:3] = ["https://www.blog.example.com/c"]
    paths[4:4] = [f"{SITE}/e.jpg"]
    paths[-1] = "https://files.example/2026/i.jpg"
    assert (importer.folder / "list.txt").read_text().splitlines() == [*paths, f"{SITE}/30.jpg"]


def test_report_counts_the_pictures_that_stay_at_each_host(importer, export):
    report = importer.imports(export)
    counts = re.findall(r"([a-z.]+) \((\d+)\): https", report)
    assert counts == [("blog.example.com", "12"), ("files.example", "1"), ("cdn.example", "1")]


def test_pictures_beside_files_move_with_their_folder(importer):
    """Those that are not in the folder stay, since only the old site's build knows where they are."""
    text = "![](lost.jpg) ![](x.jpg) ![](../../images/a&b%20c.jpg) ![](/static.jpg) [y](./y.png) ![](../../../out.jpg)"
    files = {"site/content/blog/a.md": post("image: ../../assets/x.png", text)}
    files |= {"site/b.md": post("image: ../x.png")}
    files |= dict.fromkeys(
        ("site/content/blog/x.jpg", "site/images/a&b c.jpg", "site/content/blog/y.png", "site/assets/x.png"), ""
    )
    report = importer.imports(files, "--pictures-url", NEW)
    assert re.search(r"begin with \.\./ .*\(1\): a\b", report)
    assert re.search(r"banners .*begin with \.\./ .*\(1\): b\b", report)
    paths = ["/content/blog/x.jpg", "/images/a%26b%20c.jpg", "/static.jpg", "/content/blog/y.png"]
    article = importer.articles()["a"]
    assert article["bannerUrl"] == f"{NEW}/assets/x.png"
    urls = re.findall('(?:src|href)="(.*?)"', article["contentHtml"])
    assert urls == ["lost.jpg", *(NEW + path for path in paths), "../../../out.jpg"]
    assert re.search(r"relative URLs \(1\): a\b", report)


def test_pictures_that_have_moved_stay(importer):
    importer.imports({"a.md": post("", f"![]({NEW}/a.jpg)")}, "--site", NEW[:23], "--pictures-url", NEW)
    assert f'src="{NEW}/a.jpg"' in importer.only()["contentHtml"]


@pytest.mark.parametrize("site", [[], ["--site", SITE]])
def test_pictures_of_ghost_move(importer, site):
    post = {"html": '<img src="__GHOST_URL__/content/a.jpg">', "feature_image": "__GHOST_URL__/content/b.jpg"}
    importer.run("import", ghost(post), "--pictures-url", NEW, "--pictures", "list.txt", *site)
    assert f"{NEW}/content/a.jpg" in importer.only()["contentHtml"]
    assert importer.only()["bannerUrl"] == f"{NEW}/content/b.jpg"
    listed = (importer.folder / "list.txt").read_text().splitlines()
    assert listed == [f"{SITE}/content/{name}.jpg" for name in ("b", "a") if site]


def test_list_needs_a_new_file_and_a_successful_import(importer):
    """Like the redirects, which share the code; the two lists cannot be one file."""
    for options in (["--pictures", "new.txt", "--dry-run"], ["--pictures", "new.txt", "--redirects", "new.txt"]):
        importer.run("import", {"a.md": post(text="![](/a.jpg)")}, "--site", SITE, *options)
    assert (list(importer.folder.glob("*.txt")), importer.states()) == ([], {})
