// Read the API, and render what all sites share.

for (const name of ["ARTICLES_URL", "ARTICLES_KEY", "SITE"]) {
  if (process.env[name]) continue;
  console.error(`Set the environment variable ${name}.`);
  process.exit(1);
}
const { ARTICLES_URL, ARTICLES_KEY } = process.env;
export const SITE = process.env.SITE.replace(/\/+$/, "");
export const SITE_NAME = process.env.SITE_NAME || new URL(SITE).host;
export const LANGUAGE = "en";
export const PAGE_SIZE = 50;
export const FEED_SIZE = 20;
const ICON = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='100%' height='100%' fill='#246'/></svg>";
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
const timeZone = process.env.SITE_TIMEZONE || "UTC";
const dayFormat = new Intl.DateTimeFormat("sv-SE", { timeZone }); // Sweden writes dates as 2026-01-31.

/** Return the URL of an article on your site. */
export const articleUrl = (slug) => `${SITE}/articles/${encodeURIComponent(slug)}/`;

/** Return the URL of a list on your site. */
export const listUrl = (number) => (number > 1 ? `${SITE}/page/${number}/` : `${SITE}/`);

/** Return the day of a timestamp in your site's time zone, as in 2026-01-31. */
export const formatDay = (timestamp) => dayFormat.format(new Date(timestamp));

/** Return text escaped for HTML and XML, attributes included. */
export const escapeText = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Return content in which the keyboard reaches what scrolls. */
export const scrollable = (html) => html.replace(/<(pre|table)(?=[\s>])/g, '<$1 tabindex="0"');

async function describeError(response) {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  const reason = isProblem ? (await response.json()).detail : response.statusText;
  return `${response.status} ${reason}`;
}

export async function fetchJson(path, query = {}) {
  const url = `${ARTICLES_URL}/${path}?${new URLSearchParams(query)}`;
  const options = { headers: { "x-api-key": ARTICLES_KEY }, signal: AbortSignal.timeout(60_000) };
  try {
    const response = await fetch(url, options);
    if (response.ok) return await response.json();
    throw new Error(await describeError(response));
  } catch (error) {
    throw new Error(`${url}: ${error.cause?.message || error.message}`);
  }
}

/** Return every article that matches the query, or every article, the newest first. */
export async function fetchArticles(query = {}) {
  const articles = [];
  for (let total = 1; articles.length < total; ) {
    const { data, meta } = await fetchJson("articles", { ...query, take: 100, skip: articles.length });
    articles.push(...data);
    total = data.length ? meta.total : 0;
  }
  return articles;
}

/** Return the article with this slug, or undefined. Other servers of this API may ignore the filter, so compare. */
export async function fetchArticle(slug) {
  const matches = await fetchArticles({ slug });
  return matches.find((article) => article.slug === slug);
}

/** Return an article's structured data with its URL and yours, as JSON that is safe inside a script element. */
export function structuredData({ slug, schemaMarkup }) {
  for (const node of schemaMarkup["@graph"]) {
    if (!/(Article|Posting)$/.test(node?.["@type"])) continue;
    node.mainEntityOfPage ??= articleUrl(slug);
    if (node.author?.["@type"]) node.author.url ??= `${SITE}/`;
  }
  return JSON.stringify(schemaMarkup).replaceAll("<", "\\u003c");
}

const renderFeedItem = (article) => `<item>
<title>${escapeText(article.title)}</title>
<link>${escapeText(articleUrl(article.slug))}</link>
<guid isPermaLink="false">${escapeText(article.id)}</guid>
<pubDate>${new Date(article.publishedAt).toUTCString()}</pubDate>
<description>${escapeText(article.metaDesc)}</description>
</item>`;

/** Return an RSS feed of the newest articles. */
export const renderFeed = (articles) => `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeText(SITE_NAME)}</title>
<link>${escapeText(SITE)}/</link>
<atom:link rel="self" type="application/rss+xml" href="${escapeText(SITE)}/feed.xml"/>
<description>All our articles, the newest first.</description>
${articles.slice(0, FEED_SIZE).map(renderFeedItem).join("\n")}
</channel>
</rss>
`;

const renderUrl = ({ url, lastmod }) =>
  `<url><loc>${escapeText(articleUrl(url))}</loc><lastmod>${lastmod}</lastmod></url>`;

/** Return a sitemap of the entries that the API's sitemap has. */
export const renderSitemap = (entries) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.map(renderUrl).join("\n")}
</urlset>
`;
