"""Pictures, galleries, players and embeds in posts, which WordPress makes from shortcodes and URLs."""

import re
from html import escape, unescape
from itertools import chain

from content.shortcodes import drop_shortcodes
from converters.articles import SourceArticle
from converters.media_suffixes import AUDIO_SUFFIXES, PICTURE_SUFFIXES, VIDEO_SUFFIXES, has_suffix
from converters.wordpress.blogs import EXPORT_ALL, Attachment, Blog

EMBEDS = "Videos and other URLs alone on a line, which WordPress embeds, became links"
MISSING_FILES = "Files of galleries and players that the export lacks"
# In a possessive repetition, Python before 3.11.5 keeps what a failed alternative has matched
# (https://github.com/python/cpython/issues/106052). To keep the time linear without one, a tag ends before the next "<"
# and text before the next caption.
TAG_ATTRIBUTES = r"""\s(?:[^<>"']|"[^<"]*"|'[^<']*')*>"""
# [caption width="300"]<img src="a.jpg"> A day out[/caption]. Older versions store the text as an attribute.
CAPTION = re.compile(
    rf"\[caption(?<!\[\[caption)([^\[\]]*+)\]\s*((?:<a{TAG_ATTRIBUTES}\s*)?<img{TAG_ATTRIBUTES}(?:\s*</a>)?)"
    r"((?:[^\[]|\[(?!/?caption))*)\[/caption\]"
)
# [gallery ids="1,2"] or [audio src="a.mp3"][/audio], which may be alone in its paragraph, as in <p>[gallery]</p>
MEDIA = re.compile(
    r"(<p>\s*+)?(?<!\[)\[(gallery|audio|video)(?=[\s\]/])([^\[\]]*+)\](?:\s*+\[/(?:gallery|audio|video)\])?(?(1)\s*+</p>)"
)
# ids="1,2", ids='1,2' or ids=1
ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"']++))""")
ID = re.compile("[0-9]+")
FILE_ATTRIBUTES = {
    "audio": ("src", "mp3", "m4a", "ogg", "wav", "flac"),
    "video": ("src", "mp4", "m4v", "webm", "ogv", "flv"),
}
MEDIA_SUFFIXES = {"gallery": PICTURE_SUFFIXES, "audio": AUDIO_SUFFIXES, "video": VIDEO_SUFFIXES}
URL = r"""(https?://[^\s\0<>"\[\]]+)"""
# [embed width=3]https://v.example/1[/embed]
EMBED = re.compile(r"\[embed(?<!\[\[embed)[^\[\]]*+\]\s*()([^\s\[\]<>]+)\s*\[/embed\]")
# a URL alone on a line, or in a paragraph
URL_ON_LINE = re.compile(rf"(\n[ \t]*){URL}(?=[ \t\r]*\n)")
URL_IN_PARAGRAPH = re.compile(rf"(<p>\s*){URL}(?=\s*</p>)")

Attributes = dict[str, str]


class MediaRenderer:
    """The galleries, players and embeds of one post."""

    def __init__(self, article: SourceArticle, blog: Blog, post_id: str) -> None:
        self.article = article
        self.blog = blog
        self.post_id = post_id

    def render(self, html: str) -> str:
        """Return HTML with elements instead of shortcodes and of URLs alone on a line.

        A gallery or a player without any file stays as it is.
        """
        html = CAPTION.sub(_render_caption, html)
        if any(f"[{kind}" in html for kind in MEDIA_SUFFIXES):
            html = MEDIA.sub(self._render_shortcode, html)
        return self._link_embeds(html)

    def _render_shortcode(self, shortcode: re.Match[str]) -> str:
        kind = shortcode[2]
        attributes = _parse_attributes(shortcode[3])
        if kind == "gallery":
            html = self._render_gallery(attributes)
        else:
            html = self._render_player(kind, attributes, shortcode[3])
        if not html and drop_shortcodes(f"\n{shortcode[0]}\n")[1]:
            self.article.note(MISSING_FILES, advice=EXPORT_ALL)
        return html or shortcode[0]

    def _render_gallery(self, attributes: Attributes) -> str:
        """Return a gallery, or "" if no picture is found."""
        pictures = self._find_pictures(attributes)
        if not pictures:
            return ""
        columns = re.fullmatch("[1-8]", attributes.get("columns", ""))
        size = columns[0] if columns else "default"
        links_to_file = attributes.get("link") == "file"
        figures = "\n".join(_render_picture(picture, links_to_file=links_to_file) for picture in pictures)
        return f'<figure class="wp-block-gallery has-nested-images columns-{size} is-cropped">\n{figures}\n</figure>'

    def _find_pictures(self, attributes: Attributes) -> list[Attachment]:
        """Return the pictures with the given ids, otherwise those of the post."""
        ids = ID.findall(attributes.get("ids") or attributes.get("include", ""))
        found = [self.blog.attachments[id] for id in ids if id in self.blog.attachments]
        if len(found) < len(ids):
            self.article.note(MISSING_FILES, advice=EXPORT_ALL)
        return found if ids else self._attached("gallery", attributes.get("id", self.post_id))

    def _attached(self, kind: str, post_id: str) -> list[Attachment]:
        """Return the files of this kind that were uploaded to a post."""
        attachments = self.blog.attachments_by_post.get(post_id, [])
        return [attachment for attachment in attachments if has_suffix(attachment.url, MEDIA_SUFFIXES[kind])]

    def _render_player(self, kind: str, attributes: Attributes, text: str) -> str:
        """Return an audio or video player, or "" if no file is found."""
        given = [attributes.get(name, "") for name in FILE_ATTRIBUTES[kind]]
        without_name = re.findall(URL, ATTRIBUTE.sub("", text))
        attached = [attachment.url for attachment in self._attached(kind, self.post_id)]
        url = next(filter(None, chain(given, without_name, attached)), "")
        if not url:
            return ""
        if not has_suffix(url, MEDIA_SUFFIXES[kind]):  # of another site, such as YouTube
            self.article.note(EMBEDS)
            return f"<p>{_link(url)}</p>"
        poster = attributes.get("poster", "")
        attribute = f' poster="{_escape_attribute(poster)}"' if poster else ""
        player = f'<{kind} controls src="{_escape_attribute(url)}"{attribute}></{kind}>'
        return f'<figure class="wp-block-{kind}">{player}</figure>'

    def _link_embeds(self, html: str) -> str:
        """Replace each URL that WordPress embeds, such as a video's, with a link."""
        linked = f"\n{html}\n"
        for pattern in (EMBED, URL_ON_LINE, URL_IN_PARAGRAPH):
            linked = pattern.sub(lambda match: match[1] + _link(match[2]), linked)
        linked = linked[1:-1]
        if linked != html:
            self.article.note(EMBEDS)
        return linked


def _render_caption(caption: re.Match[str]) -> str:
    """Return a picture with its caption as WordPress shows it in themes that support HTML5."""
    attributes = _parse_attributes(caption[1])
    text = attributes.get("caption", caption[3].strip())
    if not text:
        return caption[2]
    align = re.fullmatch("align[a-z]+", attributes.get("align", ""))
    width = re.match("[1-9][0-9]{0,4}", attributes.get("width", ""))
    style = f' style="width: {width[0]}px"' if width else ""
    start = f'<figure{style} class="wp-caption {align[0] if align else "alignnone"}">'
    return f'{start}{caption[2]}<figcaption class="wp-caption-text">{text}</figcaption></figure>'


def _render_picture(picture: Attachment, *, links_to_file: bool) -> str:
    """Return a picture of a gallery with its caption."""
    url = _escape_attribute(picture.url)
    image = f'<img loading="lazy" src="{url}" alt="{_escape_attribute(picture.alt)}" />'
    if links_to_file:
        image = f'<a href="{url}">{image}</a>'
    text = " ".join(picture.caption.split())
    caption = f'<figcaption class="wp-element-caption">{text}</figcaption>' if text else ""
    return f'<figure class="wp-block-image">{image}{caption}</figure>'


def _parse_attributes(text: str) -> Attributes:
    """Return the attributes of a shortcode by name."""
    return {name.lower(): double or single or plain for name, double, single, plain in ATTRIBUTE.findall(text)}


def _link(url: str) -> str:
    return f'<a href="{url}">{url}</a>'


def _escape_attribute(text: str) -> str:
    """Return text for an attribute, whether or not it has already been escaped."""
    return escape(unescape(text))
