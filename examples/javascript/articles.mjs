// Read the API.

const URL_PATTERN = /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/i;
const ADVICE = "Check that the service is running, and that ARTICLES_URL and ARTICLES_KEY are correct.";
const CHANGED = "The articles changed while they were being read. Run this again.";
const ARTICLES_URL = readUrl("ARTICLES_URL", "http://127.0.0.1:8000/api/public/v1");
const ARTICLES_KEY = readVariable("ARTICLES_KEY", /^[!-~]+$/, "an API key of your service");

export const SITE = readUrl("SITE", "https://www.example.com");
export const SITE_NAME = process.env.SITE_NAME || SITE.split("/")[2];

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

/** Print a message without a stack trace, and exit. */
export function exitWith(message) {
  console.error(message);
  process.exit(1);
}

/** Return the URL of an article on your site. */
export const articleUrl = (slug) => `${SITE}/articles/${encodeURIComponent(slug)}/`;

/** Return text escaped for HTML and XML, attributes included. */
export const escapeText = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Return an article's structured data as JSON that is safe inside a script element. */
export const structuredData = ({ schemaMarkup }) => JSON.stringify(schemaMarkup).replaceAll("<", "\\u003c");

/**
 * Return the response to a request. Throws an error if it is not a list.
 * Redirects are not followed: they may lead to another host, which must not get the key.
 */
export async function fetchJson(path, query = {}) {
  const url = `${ARTICLES_URL}/${path}?${new URLSearchParams(query)}`.replace(/\?$/, "");
  const options = { headers: { "x-api-key": ARTICLES_KEY }, redirect: "manual", signal: AbortSignal.timeout(60_000) };
  const response = await fetch(url, options).catch(({ cause, message }) => {
    throw new Error(`${url}: ${cause?.message || cause?.code || message}. ${ADVICE}`);
  });
  const body = await response.json().catch(() => null);
  if (Array.isArray(body?.data)) return body;
  const location = response.headers.get("location");
  const problem = location ? `It has moved to ${location}.` : "This response is not from the API.";
  throw new Error(`${url}: ${response.status} ${body?.detail ?? problem} ${ADVICE}`);
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
