"""Import from a real WordPress, by its URL and from its export, and compare with what readers see there."""

import json
import os
import signal
import subprocess
from urllib.request import urlopen

import lxml.html
import pytest
from helpers import PROJECT, create_key
from importer import counts

from benchmarks.servers import free_port

# what happens at the site, one night after another
NIGHTS = {
    "a draft is published": "wp_update_post(['ID' => post('Draft'), 'post_status' => 'publish']);",
    "a text changes": "wp_update_post(['ID' => post('Classic'), 'post_content' => 'New text']);",
    "a post is renamed": "wp_update_post(['ID' => post('Caption'), 'post_name' => 'figure']);",
    "a post is trashed": "wp_trash_post(post('Post 50'));",
    "a post is restored": "wp_untrash_post(post('Post 50')); wp_publish_post(post('Post 50'));",
    "a post becomes private": "wp_update_post(['ID' => post('Post 51'), 'post_status' => 'private']);",
    "a post gets a password": "wp_update_post(['ID' => post('Post 52'), 'post_password' => 'x']);",
    "the password is removed": "wp_update_post(['ID' => post('Post 52'), 'post_password' => '']);",
    "a post is scheduled": "wp_update_post(['ID' => post('Post 53'), 'post_status' => 'future', 'edit_date' => true,"
    " 'post_date' => '2099-01-01 00:00:00', 'post_date_gmt' => '2099-01-01 00:00:00']);",
    "a post is deleted": "wp_delete_post(post('Post 54'), true);",
}
LIST_PUBLIC_POSTS = """
$posts = get_posts(['numberposts' => -1, 'has_password' => false]);
$slugs = array_map('urldecode', array_column($posts, 'post_name'));
echo json_encode(array_combine($slugs, array_map('get_permalink', $posts)));
"""


class Site:
    """A WordPress with sample content."""

    def __init__(self, folder):
        self.folder, port = folder / "site", str(free_port())
        command = [PROJECT / "scripts/wordpress", self.folder, port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url, "scripts/wordpress failed"

    def php(self, *arguments):
        """Run a command of scripts/wordpress.php; return what it prints."""
        environment = os.environ | {"WORDPRESS_FOLDER": str(self.folder), "WORDPRESS_URL": self.url}
        command = ["php", PROJECT / "scripts/wordpress.php", *arguments]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    def public_posts(self):
        """Return the URL of each post that everyone can read, by slug."""
        return json.loads(self.php("eval", LIST_PUBLIC_POSTS))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        assert not self.folder.exists()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("wordpress"))
    yield site
    site.stop()


@pytest.fixture
def export(site, tmp_path):
    path = tmp_path / "export.xml"
    path.write_text(site.php("export"))
    return path


def what_readers_see(element, url):
    """Return the visible text of an element without its spacing, and the absolute URLs of its pictures and links."""
    element.make_links_absolute(url)
    for hidden in element.xpath(".//script|.//style|.//iframe[contains(@class, 'wp-embedded-content')]"):
        hidden.drop_tree()
    return ["".join(element.text_content().split()), element.xpath(".//img/@src"), element.xpath(".//a/@href")]


def test_url_brings_what_readers_see_at_the_site(site, importer):
    posts = site.public_posts()
    assert counts(importer.run("import", site.url, "--publish")) == {"new": len(posts)}
    stored = importer.articles()
    assert stored.keys() == posts.keys()
    for slug, url in posts.items():
        with urlopen(url) as page:  # noqa: S310
            (there,) = lxml.html.document_fromstring(page.read().decode()).xpath("//article")
        here = lxml.html.fromstring(f"<article>{stored[slug]['contentHtml']}</article>")
        assert what_readers_see(here, url) == what_readers_see(there, url), slug


def test_second_import_by_url_changes_nothing(site, importer):
    importer.imports(site.url)


COMPARED = ("slug", "publishedAt", "updatedAt", "category", "keywords", "authors", "bannerUrl")


def test_export_and_url_agree_about_every_post(app, site, export, importer):
    create_key(app, "Other")
    for customer, source in (("Acme", site.url), ("Other", export)):
        importer.run("import", source, "--publish", "--customer", customer)
    by_url, by_export = (
        {record["slug"]: [record.get(field) for field in COMPARED] for record in records}
        for records in (
            map(json.loads, importer.run("export", "--customer", customer).stdout.splitlines())
            for customer in ("Acme", "Other")
        )
    )
    assert len(by_url) >= 120
    assert by_url == {slug: by_export[slug] for slug in by_url}


def test_url_goes_on_where_an_export_began(site, export, importer):
    importer.run("import", export, "--publish")
    before = importer.states()
    assert "new" not in counts(importer.run("import", site.url, "--publish"))
    assert importer.states() == before


def test_other_type_of_posts_is_imported_both_ways(site, export, importer):
    assert counts(importer.run("import", export, "--publish", "--post-type", "news")) == {"new": 1}
    importer.run("import", site.url, "--publish", "--post-type", "news")
    assert importer.states() == {"opening": "published"}


def test_published_articles_are_those_of_the_site_every_night(site, importer):
    importer.run("import", site.url, "--publish")
    for night, code in NIGHTS.items():
        find = "function post($title) { return get_page_by_title($title, OBJECT, 'post')->ID; }"
        site.php("eval", find + code)
        assert importer.run("import", site.url, "--publish", "--unpublish-missing").exit_code == 0, night
        published = {slug for slug, state in importer.states().items() if state == "published"}
        assert published == site.public_posts().keys(), night
    articles = importer.articles()
    assert articles["classic"]["contentHtml"] == "<p>New text</p>"
    assert articles["figure"]["title"] == "Caption"
