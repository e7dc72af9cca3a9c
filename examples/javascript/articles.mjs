// Read the API, and prepare what all sites share.

const URL_PATTERN = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/i;
const ARTICLES_URL = readUrl("ARTICLES_URL", "http://127.0.0.1:8000/api/public/v1");
const ARTICLES_KEY = readVariable("ARTICLES_KEY", /^[!-~]+$/, "an API key of your service");
const ADVICE = "Check that the service is running, and that ARTICLES_URL and ARTICLES_KEY are correct.";

export const SITE = readUrl("SITE", "https://www.example.com");
export const SITE_NAME = process.env.SITE_NAME || SITE.split("/")[2];
export const LANGUAGE = "en";
export const LABELS = {
  category: "Category",
  keyword: "Keyword",
  keywords: "Keywords",
  newer: "Newer",
  older: "Older",
  newerArticles: "Newer articles",
  olderArticles: "Older articles",
  newestFirst: "newest articles first",
  page: "page",
};
const PAGE_SIZE = 50;
const FEED_SIZE = 20;
const ICON = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='100%' height='100%' fill='#246'/></svg>";
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
const dayFormat = readDayFormat();

/** Return the value of an environment variable, or exit. */
function readVariable(name, pattern, meaning) {
  const value = process.env[name] ?? "";
  if (!pattern.test(value)) exitWith(`${name} is ${value ? "invalid" : "missing"}. Set it to ${meaning}.`);
  return value;
}

/** Return a URL in an environment variable, without the slash at its end. */
function readUrl(name, example) {
  return readVariable(name, URL_PATTERN, `a URL, such as ${example}`).replace(/\/+$/, "");
}

function readDayFormat() {
  try {
    // Sweden writes dates as 2026-01-31.
    return new Intl.DateTimeFormat("sv-SE", { timeZone: process.env.SITE_TIMEZONE || "UTC" });
  } catch {
    exitWith("SITE_TIMEZONE is invalid. Set it to a time zone, such as Europe/Berlin.");
  }
}

/** Print a message without a stack trace, and exit. */
export function exitWith(message) {
  console.error(message);
  process.exit(1);
}

/** Return the URL of an article on your site. */
export const articleUrl = (slug) => `${SITE}/articles/${encodeURIComponent(slug)}/`;

/** Return the URL of a list on your site. The path is empty for the first list, otherwise something like `category/news/2`. */
const listUrl = (path) => `${SITE}/${path && `${encodeURI(path)}/`}`;

/** Return the day of a timestamp in your site's time zone, as in 2026-01-31. */
export const formatDay = (timestamp) => dayFormat.format(new Date(timestamp));

/** Return text escaped for HTML and XML, attributes included. */
export const escapeText = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Make scrollable elements reachable by keyboard. */
const scrollable = (html) => html.replace(/<(pre|table)(?=[\s>])/g, '<$1 tabindex="0"');

/** Return the response to a request. Throws an error if it is not a list. */
export async function fetchJson(path, query = {}) {
  const url = `${ARTICLES_URL}/${path}?${new URLSearchParams(query)}`.replace(/\?$/, "");
  const options = { headers: { "x-api-key": ARTICLES_KEY }, signal: AbortSignal.timeout(60_000) };
  const response = await fetch(url, options).catch(({ cause, message }) => {
    throw new Error(`${url}: ${cause?.message || cause?.code || message}. ${ADVICE}`);
  });
  const body = await response.json().catch(() => null);
  if (Array.isArray(body?.data)) return body;
  throw new Error(`${url}: ${response.status} ${body?.detail ?? "This response is not from the API."} ${ADVICE}`);
}

/** Return the articles that match the query, newest first. */
export async function fetchArticles(query = {}) {
  const articles = [];
  for (let total = 1; articles.length < total; ) {
    const { data, meta } = await fetchJson("articles", { ...query, take: 100, skip: articles.length });
    articles.push(...data);
    total = data.length ? meta.total : 0;
  }
  return articles;
}

/**
 * Return all articles, newest first, with the sitemap's `lastmod`.
 * Pages shift if the list changes while they are read. In that case, they are read again.
 */
export async function fetchAll() {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { data: before } = await fetchJson("sitemap");
    const articles = await fetchArticles();
    const { data: sitemap } = await fetchJson("sitemap");
    if (isComplete(articles, before, sitemap)) {
      checkArticles(articles);
      const days = new Map(sitemap.map(({ url, lastmod }) => [url, lastmod]));
      return articles.map((article) => ({ ...article, lastmod: days.get(article.slug) }));
    }
  }
  throw new Error("The articles changed while they were being read, three times in a row. Run the build again.");
}

/** Return whether the sitemap did not change, and every article in it was read once. */
function isComplete(articles, before, after) {
  const slugs = new Set(articles.map(({ slug }) => slug));
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  return isSame && articles.length === after.length && after.every(({ url }) => slugs.has(url));
}

/** Throw an error if there are no articles, or if two slugs would be one folder on macOS or Windows. */
function checkArticles(articles) {
  if (articles.length === 0) {
    throw new Error("No article is published. The site stays as it is; to take it down, delete its folder.");
  }
  const slugs = new Map();
  for (const { slug } of articles) {
    const other = slugs.get(foldName(slug));
    if (other) {
      const problem = "would be one folder on macOS or Windows, since they differ only in case or Unicode normalization";
      throw new Error(`The slugs ${other} and ${slug} ${problem}. Rename one of them.`);
    }
    slugs.set(foldName(slug), slug);
  }
}

/** Return a name as file systems of macOS and Windows compare it. To macOS, even ß is ss. */
const foldName = (name) => name.normalize("NFD").toLowerCase().toUpperCase();

/** Return the article with this slug, or undefined. Other servers of this API may ignore the filter, so compare. */
export async function fetchArticle(slug) {
  const matches = await fetchArticles({ slug });
  return matches.find((article) => article.slug === slug);
}

/** Return the folder of each name: `c` for "C#", `c-2` for "c" if it comes later, `other` for "..". */
function assignFolders(names) {
  const folders = new Map();
  const taken = new Set();
  for (const name of names) {
    const words = name.toLowerCase().normalize("NFC").match(/[\p{L}\p{N}\p{M}]+/gu) ?? ["other"];
    const base = [...words.join("-")].slice(0, 50).join(""); // at most 200 bytes
    let folder = base;
    for (let number = 2; taken.has(foldName(folder)); number++) folder = `${base}-${number}`;
    taken.add(foldName(folder));
    folders.set(name, folder);
  }
  return folders;
}

/** Return a list for each name that articles have, in the folder `kind`, and link the articles to these lists. */
function groupArticles(articles, kind, namesOf) {
  const names = articles.flatMap(namesOf).filter(Boolean);
  const folders = assignFolders(new Set(names.reverse())); // oldest first, so that a new article never changes a list's URL
  const lists = new Map();
  for (const [name, folder] of folders) {
    lists.set(name, { path: `${kind}/${folder}`, title: `${LABELS[kind]}: ${name}`, articles: [] });
  }
  for (const article of articles) {
    const own = [...new Set(namesOf(article))].filter(Boolean);
    for (const name of own) lists.get(name).articles.push(article);
    article[`${kind}Links`] = own.map((name) => ({ name, url: listUrl(lists.get(name).path) }));
  }
  return [...lists.values()];
}

/** Return the pages of a list, with at most PAGE_SIZE articles each. */
function paginate({ path, title, articles }) {
  const last = Math.max(1, Math.ceil(articles.length / PAGE_SIZE));
  const pathOf = (number) => (number > 1 ? `${path || "page"}/${number}` : path);
  const titleOf = (number) => (number > 1 ? `${title}, ${LABELS.page} ${number}` : title);
  return Array.from({ length: last }, (_, index) => ({
    path: pathOf(index + 1),
    url: listUrl(pathOf(index + 1)),
    title: titleOf(index + 1),
    description: `${titleOf(index + 1)}, ${LABELS.newestFirst}.`,
    articles: articles.slice(index * PAGE_SIZE, (index + 1) * PAGE_SIZE),
    newerUrl: index ? listUrl(pathOf(index)) : "",
    olderUrl: index + 1 < last ? listUrl(pathOf(index + 2)) : "",
  }));
}

/** Return the articles with what their pages show, and each page of each list: all articles, a category, a keyword. */
export function prepareContent(articles) {
  const linkTo = (article) => article && { title: article.title, url: articleUrl(article.slug) };
  articles.forEach((article, index) => {
    article.url = articleUrl(article.slug);
    article.day = formatDay(article.publishedAt);
    article.html = scrollable(article.contentHtml);
    article.jsonLd = structuredData(article);
    article.newer = linkTo(articles[index - 1]);
    article.older = linkTo(articles[index + 1]);
  });
  const categories = groupArticles(articles, "category", ({ category }) => [category]);
  const keywords = groupArticles(articles, "keyword", (article) => article.keywords);
  const lists = [{ path: "", title: SITE_NAME, articles }, ...categories, ...keywords];
  return { articles, lists: lists.flatMap(paginate) };
}

/** Return an article's structured data as JSON that is safe inside a script element. */
export const structuredData = ({ schemaMarkup }) => JSON.stringify(schemaMarkup).replaceAll("<", "\\u003c");

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
<description>${escapeText(SITE_NAME)}, ${escapeText(LABELS.newestFirst)}.</description>
${articles.slice(0, FEED_SIZE).map(renderFeedItem).join("\n")}
</channel>
</rss>
`;

const renderUrl = ({ slug, lastmod }) =>
  `<url><loc>${escapeText(articleUrl(slug))}</loc><lastmod>${lastmod}</lastmod></url>`;

/** Return a sitemap.xml of articles with their `lastmod`. */
export const renderSitemap = (articles) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${articles.map(renderUrl).join("\n")}
</urlset>
`;
