// Render a list of the newest articles, a page for each article and a sitemap.xml on request: node server.mjs PORT

import { createServer } from "node:http";
import {
  LANGUAGE,
  SITE,
  SITE_NAME,
  articleUrl,
  escapeText,
  exitWith,
  fetchArticle,
  fetchJson,
  formatDay,
  renderSitemap,
  structuredData,
} from "./articles.mjs";

const SITE_PATH = new URL(`${SITE}/`).pathname; // "/blog/" if SITE is https://www.example.com/blog

function renderPage({ title, description, url, head = "", body }) {
  return `<!doctype html>
<html lang="${LANGUAGE}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<meta name="description" content="${escapeText(description)}">
<link rel="canonical" href="${escapeText(url)}">
${head}</head>
<body>
${body}
</body>
</html>
`;
}

function renderArticle(article) {
  const { slug, title, metaTitle, metaDesc, publishedAt, category, contentHtml } = article;
  return renderPage({
    title: metaTitle,
    description: metaDesc,
    url: articleUrl(slug),
    head: `<script type="application/ld+json">${structuredData(article)}</script>\n`,
    body: `<h1>${escapeText(title)}</h1>
<p><time datetime="${publishedAt}">${formatDay(publishedAt)}</time>${category && ` · ${escapeText(category)}`}</p>
${contentHtml}`,
  });
}

const renderItem = ({ slug, title }) =>
  `<li><a href="${escapeText(articleUrl(slug))}">${escapeText(title)}</a></li>\n`;

function renderList(previews) {
  const body = `<h1>${escapeText(SITE_NAME)}</h1>\n<ul>\n${previews.map(renderItem).join("")}</ul>`;
  return renderPage({ title: SITE_NAME, description: SITE_NAME, url: `${SITE}/`, body });
}

/** Return the slug in the path of an article's page, or undefined if it cannot be one. */
function parseSlug(path) {
  try {
    const slug = decodeURIComponent(path.match(/^articles\/([^/]+)\/$/)?.[1] ?? "");
    return /^[^\0]{1,200}$/su.test(slug) ? slug : undefined;
  } catch {
    return undefined; // a percent sign without two hexadecimal digits
  }
}

/** Return the media type and the text of a page by its path below SITE, or undefined. */
async function render(path) {
  if (path === "") return ["text/html", renderList((await fetchJson("articles/preview")).data)];
  if (path === "sitemap.xml") {
    const { data } = await fetchJson("sitemap");
    return ["application/xml", renderSitemap(data.map(({ url, lastmod }) => ({ slug: url, lastmod })))];
  }
  const slug = parseSlug(path);
  const article = slug && (await fetchArticle(slug));
  return article && ["text/html", renderArticle(article)];
}

async function respond(request, response) {
  const [path] = request.url.split("?");
  try {
    const page = path.startsWith(SITE_PATH) && (await render(path.slice(SITE_PATH.length)));
    const [type, text] = page || ["text/plain", "Not found"];
    response.writeHead(page ? 200 : 404, { "Content-Type": `${type}; charset=utf-8` }).end(text);
  } catch (error) {
    console.error(error.message);
    response.writeHead(503, { "Retry-After": "30" }).end("Please try again in a minute.");
  }
}

const port = process.argv[2] ?? exitWith("Usage: node server.mjs PORT");
createServer(respond).listen(port, "127.0.0.1");
