// Render a list of the newest articles and a page for each article on request: node server.mjs PORT

import { createServer } from "node:http";
import { SITE, SITE_NAME, articleUrl, escapeText, exitWith, fetchArticle, fetchJson, structuredData } from "./articles.mjs";

const SITE_PATH = new URL(`${SITE}/`).pathname; // "/blog/" if SITE is https://www.example.com/blog

function renderPage({ title, description, url, head = "", body }) {
  return `<!doctype html>
<html lang="en">
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
<p><time datetime="${publishedAt}">${publishedAt.slice(0, 10)}</time>${category && ` · ${escapeText(category)}`}</p>
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

/** Return the page at a path below SITE, or undefined. */
async function render(path) {
  if (path === "") return renderList((await fetchJson("articles/preview")).data);
  const slug = parseSlug(path);
  const article = slug && (await fetchArticle(slug));
  return article && renderArticle(article);
}

async function respond(request, response) {
  const [path] = request.url.split("?");
  try {
    const page = path.startsWith(SITE_PATH) && (await render(path.slice(SITE_PATH.length)));
    response.writeHead(page ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" }).end(page || "Not found");
  } catch (error) {
    console.error(error.message);
    response.writeHead(503, { "Retry-After": "30" }).end("Please try again in a minute.");
  }
}

const port = process.argv[2] ?? exitWith("Usage: node server.mjs PORT");
createServer(respond).listen(port, "127.0.0.1");
