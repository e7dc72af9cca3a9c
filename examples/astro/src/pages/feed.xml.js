import { SITE, SITE_NAME, articleUrl, escapeText } from "../../articles.mjs";
import { articles } from "../content.mjs";

const renderItem = ({ id, slug, title, metaDesc, publishedAt }) => `<item>
<title>${escapeText(title)}</title>
<link>${escapeText(articleUrl(slug))}</link>
<guid isPermaLink="false">${escapeText(id)}</guid>
<pubDate>${new Date(publishedAt).toUTCString()}</pubDate>
<description>${escapeText(metaDesc)}</description>
</item>`;

const feed = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0">
<channel>
<title>${escapeText(SITE_NAME)}</title>
<link>${escapeText(SITE)}/</link>
<description>${escapeText(SITE_NAME)}</description>
${articles.slice(0, 20).map(renderItem).join("\n")}
</channel>
</rss>
`;

export const GET = () => new Response(feed);
