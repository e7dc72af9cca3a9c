"""Links between the articles of an import, which lead to the customer's site once the plan knows the slugs.

For example, the posts of a blog at https://old.example move to the customer's site, https://www.example.com/{slug}:

| link                             | becomes                                       |
|----------------------------------|-----------------------------------------------|
| https://old.example/?p=17        | https://www.example.com/soup                  |
| /2026/03/01/spring-menu/#prices  | https://www.example.com/spring-menu#prices    |
| https://old.example/about/       | stays, since it is not an article: reported   |
"""

from collections.abc import Iterator, Mapping
from html import escape, unescape

from content.urls import NOT_RELATIVE, article_url, change_urls, has_same_host, is_same_page, page_key, split_page
from converters.article_urls import RELATIVE_URLS
from converters.source_articles import Link, Note, SourceArticle, Subject

OLD_LINKS = Note("Links to the old site stay", unit="URL", subject=Subject.OLD_SITE)
NO_SITE = "To rewrite those between articles, say where your site shows them: flask customers site."


class ArticleLinks:
    """The articles that links of an import may lead to."""

    def __init__(self, slugs: Mapping[SourceArticle, str], site: str) -> None:
        """`slugs` are those of the articles after the import. `site` is the customer's, and may be empty."""
        self._slugs = slugs
        self._site = site
        self.old_links = OLD_LINKS if site else OLD_LINKS._replace(advice=NO_SITE)
        self._by_origin = {article.origin: article for article in slugs if article.origin}
        self._by_page: dict[str, SourceArticle] = {}
        public = [article for article in slugs if article.origin and article.claim == "published"]
        # An address that an article has now, its first page, wins over one that another had once.
        for part in slice(1), slice(1, None):
            for article in public:
                for page in article.pages[part]:
                    self._by_page.setdefault(page, article)
        for article in public:
            new_page = page_key(*split_page(article_url(site, slugs[article])))
            self._by_page.setdefault(new_page, article)

    def rewrite(self, article: SourceArticle) -> str:
        """Return an article's content with new URLs in the links that lead to other articles of the import."""
        html: str = article.row["content_html"]
        addresses = {url: address for url in article.links if (address := self._find_address(article, url))}
        if not addresses:
            return html
        return change_urls(html, lambda _, attribute, url: addresses.get(url, url) if attribute == "href" else url)

    def notes(self, article: SourceArticle) -> Iterator[Note]:
        """Yield a note if links of an article stay relative."""
        if not all(map(NOT_RELATIVE.match, self._find_staying(article))):
            yield RELATIVE_URLS

    def find_old(self, article: SourceArticle) -> Iterator[str]:
        """Yield the URLs of an article's links to the old site that stay."""
        staying = [url for url in self._find_staying(article) if article.links[url].is_old and NOT_RELATIVE.match(url)]
        for url in staying:
            # Without a customer's site, the articles are on the site of the source.
            if self._site or not has_same_host(url, article.article_url_pattern):
                yield unescape(url)

    def find_moved(self, article: SourceArticle) -> Iterator[str]:
        """Yield the old URLs of an article that lead to a page other than its new one, or all if that is unknown.

        An old URL that another article has now is left out.
        """
        site = self._site or article.article_url_pattern
        for url, page in zip(article.old_urls, article.pages, strict=False):
            is_moved = not site or not is_same_page(url, article_url(site, self._slugs[article]))
            if is_moved and self._by_page.get(page, article) is article:
                yield url

    def _find_staying(self, article: SourceArticle) -> list[str]:
        return [url for url in article.links if not self._find_address(article, url)]

    def _find_target(self, link: Link) -> SourceArticle | None:
        if link.origin:
            return self._by_origin.get(link.origin)
        return self._by_page.get(link.page) or self._by_page.get(link.page.partition("?")[0])

    def _find_address(self, article: SourceArticle, url: str) -> str:
        """Return the new URL of an article's link as HTML, or "" if it stays."""
        link = article.links[url]
        target = self._find_target(link)
        path, hash, fragment = url.partition("#")
        if self._site and target and target.claim == "published":
            return escape(article_url(self._site, self._slugs[target])) + hash + fragment
        if link.slug and article.article_url_pattern:
            _, mark, query = path.partition("?")
            address = article_url(article.article_url_pattern, self._slugs[target] if target else link.slug)
            return escape(address) + mark + query + hash + fragment
        return ""
