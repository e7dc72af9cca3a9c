"""WordPress: exports (WXR) here, and sites in `site`."""

from collections.abc import Iterable, Iterator

from converters.source_articles import ConvertedItems, SourceArticle, SourceError, SourceOptions, unreadable_problem
from converters.wordpress.blogs import Blog, read_blog
from converters.wordpress.posts import convert_post


def read_wordpress(sources: Iterable[str], options: SourceOptions) -> ConvertedItems:
    """Yield the posts of exports. Files of the same blog are one export, in any order.

    Raises SourceError if a blog has no post to import.
    """
    blogs: dict[str, Blog] = {}
    for source in sources:
        try:
            blog = read_blog(source, options.post_type)
        except (SourceError, OSError) as error:
            yield unreadable_problem(source, error, is_fatal=True)
        else:
            blogs.setdefault(blog.name, Blog(blog.url, blog.title)).add(blog)
    for blog in blogs.values():
        yield from _convert_posts(blog, options)


def _convert_posts(blog: Blog, options: SourceOptions) -> Iterator[SourceArticle]:
    """Yield the posts of a blog as articles.

    Raises SourceError if there are none, or if all are in the trash or blank and the blog has posts of other types.
    """
    is_empty = True
    for source, item in blog.posts:
        article = convert_post(source, item, blog, options)
        is_empty = is_empty and article.is_without_text
        yield article
    if is_empty and (blog.other_types or not blog.posts):
        raise SourceError(_describe_contents(blog, options.post_type))


def _describe_contents(blog: Blog, post_type: str) -> str:
    """Return what a blog without posts to import contains instead."""
    types = blog.other_types.most_common(3)
    found = [f"{count} of the type {name}: add --post-type {name}" for name, count in types]
    if blog.posts:
        found.insert(0, f"{len(blog.posts)} in the trash or blank")
    return f"Contains nothing of the type {post_type} to import, but {'; '.join(found) or 'nothing else'}."
