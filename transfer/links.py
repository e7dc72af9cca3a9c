"""Links between the articles of an import, which lead to the customer's site once the plan knows the slugs.

For example, the posts of a blog at https://old.example move to the customer's site, https://www.example.com/{slug}:

| link                             | becomes                                       |
|----------------------------------|-----------------------------------------------|
| https://old.example/?p=17        | https://www.example.com/soup                  |
| /2026/03/01/spring-menu/#prices  | https://www.example.com/spring-menu#prices    |
| https://old.example/about/       | stays, since it is not an article: reported   |
"""

from collections.abc import Iterable, Iterator
from html import escape, unescape

from content.urls import NOT_RELATIVE, article_url, change_urls, has_same_host, is_same_page, page_key, split_page
from converters.article_urls import RELATIVE_URLS
from converters.articles import Note, SourceArticle, Subject
from transfer.planned import PlannedArticle

OLD_LINKS = Note("Links to the old site stay", unit="URL", subject=Subject.OLD_SITE)
NO_SITE = "To rewrite those between articles, say where your site shows them: flask customers site."


class ArticleLinks:
    """The articles that links of an import may lead to."""

    def __init__(self, articles: Iterable[PlannedArticle], site: str) -> None:
        """`site` is the customer's, and may be empty."""
        self._site = site
        self.old_links = OLD_LINKS if site else OLD_LINKS._replace(advice=NO_SITE)
        self._by_target: dict[str, PlannedArticle] = {}
        for article in articles:
            if not article.entry.source:
                continue
            self._by_target[article.entry.origin] = article
            if article.entry.claim == "published":
                new_page = page_key(*split_page(article_url(site, article.slug)))
                for page in (*article.entry.pages, new_page):
                    self._by_target.setdefault(page, article)

    def rewrite(self, article: SourceArticle, html: str) -> str:
        """Return an article's content with new URLs in the links that lead to other articles of the import."""
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
        for url in (*staying, *article.old_frames):
            # Without a customer's site, the articles are on the site of the source.
            if self._site or not has_same_host(url, article.article_url_pattern):
                yield unescape(url)

    def find_moved(self, article: SourceArticle, slug: str) -> Iterator[str]:
        """Yield the old URLs of an article that lead to another page than its new one, or all if that is unknown."""
        site = self._site or article.article_url_pattern
        for url in article.old_urls:
            if not site or not is_same_page(url, article_url(site, slug)):
                yield url

    def _find_staying(self, article: SourceArticle) -> list[str]:
        return [url for url in article.links if not self._find_address(article, url)]

    def _find_address(self, article: SourceArticle, url: str) -> str:
        """Return the new URL of an article's link as HTML, or "" if it stays."""
        link = article.links[url]
        target = self._by_target.get(link.target) or self._by_target.get(link.target.partition("?")[0])
        path, hash, fragment = url.partition("#")
        if self._site and target and target.entry.claim == "published":
            return escape(article_url(self._site, target.slug)) + hash + fragment
        if link.slug and article.article_url_pattern:
            _, mark, query = path.partition("?")
            address = article_url(article.article_url_pattern, target.slug if target else link.slug)
            return escape(address) + mark + query + hash + fragment
        return ""
