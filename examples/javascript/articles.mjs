// Read the API.

const URL_PATTERN = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/i;
const TIMEOUT_SECONDS = 60;
const ADVICE = "Check that the service is running, and that ARTICLES_URL and ARTICLES_KEY are correct.";
const CHANGED = "The articles changed while they were being read. Run this again.";
const ARTICLES_URL = readUrl("ARTICLES_URL", "http://127.0.0.1:8000/api/public/v1");
const ARTICLES_KEY = readVariable("ARTICLES_KEY", /^[!-~]+$/, "an API key of your service");

export const SITE = readUrl("SITE", "https://www.example.com");
export const SITE_NAME = process.env.SITE_NAME || SITE.split("/")[2];
export const LANGUAGE = "en";
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

/** Return the day of a timestamp in your site's time zone, as in 2026-01-31. */
export const formatDay = (timestamp) => dayFormat.format(new Date(timestamp));

/** Return text escaped for HTML and XML, attributes included. */
export const escapeText = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Return an article's structured data as JSON that is safe inside a script element. */
export const structuredData = ({ schemaMarkup }) => JSON.stringify(schemaMarkup).replaceAll("<", "\\u003c");

/** Return the response to a request. Throws an error if it is not a list. */
export async function fetchJson(path, query = {}) {
  const url = `${ARTICLES_URL}/${path}?${new URLSearchParams(query)}`.replace(/\?$/, "");
  const { status, location, text } = await download(url).catch((error) => {
    throw new Error(`${url}: ${explain(error)}. ${ADVICE}`);
  });
  const body = parseJson(text);
  if (Array.isArray(body?.data)) return body;
  const problem = location ? `It has moved to ${location}.` : "This response is not from the API.";
  throw new Error(`${url}: ${status} ${body?.detail ?? problem} ${ADVICE}`);
}

/** Request a URL. Redirects are not followed: they may lead to another host, which must not get the key. */
async function download(url) {
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
  const response = await fetch(url, { headers: { "x-api-key": ARTICLES_KEY }, redirect: "manual", signal });
  const text = await response.text();
  return { status: response.status, location: response.headers.get("location"), text };
}

function explain({ name, cause, message }) {
  if (name === "TimeoutError") return `The response was not complete after ${TIMEOUT_SECONDS} seconds`;
  return cause?.message || cause?.code || message;
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Return the articles that match the query, newest first. Throws an error if their number changes. */
export async function fetchArticles(query = {}) {
  const articles = [];
  let total;
  do {
    const { data, meta } = await fetchJson("articles", { ...query, take: 100, skip: articles.length });
    total ??= meta.total;
    if (meta.total !== total || (data.length === 0 && articles.length < total)) throw new Error(CHANGED);
    articles.push(...data);
  } while (articles.length < total);
  return articles;
}

/** Return all articles, newest first, with the sitemap's `lastmod`. Throws an error if there are none. */
export async function fetchAll() {
  const articles = await fetchArticles();
  const { data: sitemap } = await fetchJson("sitemap");
  const days = new Map(sitemap.map(({ url, lastmod }) => [url, lastmod]));
  const slugs = new Set(articles.map(({ slug }) => slug));
  const isComplete = slugs.size === articles.length && slugs.size === days.size;
  if (!isComplete || articles.some(({ slug }) => !days.has(slug))) throw new Error(CHANGED);
  if (articles.length === 0) {
    throw new Error("No article is published. The site stays as it is; to take it down, delete its folder.");
  }
  return articles.map((article) => ({ ...article, lastmod: days.get(article.slug) }));
}

/** Return the article with this slug, or undefined. Other servers of this API may ignore the filter, so compare. */
export async function fetchArticle(slug) {
  const matches = await fetchArticles({ slug });
  return matches.find((article) => article.slug === slug);
}

/** Return a sitemap.xml of articles with their `lastmod`. */
export const renderSitemap = (articles) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${articles.map(renderUrl).join("\n")}
</urlset>
`;

const renderUrl = ({ slug, lastmod }) =>
  `<url><loc>${escapeText(articleUrl(slug))}</loc><lastmod>${lastmod}</lastmod></url>`;
