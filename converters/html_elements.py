"""The elements of HTML, to tell its tags from components and from text such as <bob@example.com>."""

import re

from content.html import REST_OF_TAG

# https://html.spec.whatwg.org/multipage/indices.html#elements-3, and obsolete elements that browsers still recognize
ELEMENT_NAMES = """
a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
input ins kbd label legend li link listing main map mark marquee menu meta meter nav nobr noembed noframes noscript
object ol optgroup option output p param picture plaintext pre progress q rb rp rt rtc ruby s samp script search
section select slot small source span strike strong style sub summary sup table tbody td template textarea tfoot th
thead time title tr track tt u ul var video wbr xmp svg math
"""
ELEMENTS = frozenset(ELEMENT_NAMES.split())
ELEMENT_TAG = re.compile(rf"</?(?:{'|'.join(ELEMENT_NAMES.split())})(?=[\s/>]){REST_OF_TAG}", re.IGNORECASE)
# SVG and MathML have their own elements.
FOREIGN_ELEMENT = re.compile(r"<(svg|math)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
