// Write a static site of all articles: lists, a page for each article, a feed and a sitemap.xml.

import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ICON_URL, LANGUAGE, PAGE_SIZE, SITE, SITE_NAME, articleUrl, listUrl } from "./articles.mjs";
import { escapeText, fetchArticles, fetchJson, formatDay } from "./articles.mjs";
import { renderFeed, renderSitemap, scrollable, structuredData } from "./articles.mjs";

const STYLE = `
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
.banner { width: 100%; aspect-ratio: 1200 / 630; object-fit: cover; }
pre, table { display: block; overflow-x: auto; }
`;

process.on("uncaughtException", (error) => {
  console.error(error.message); // One line is enough: a stack would hide it.
  process.exit(1);
});

function renderPage({ type, url, title, description, head = "", body }) {
  return `<!doctype html>
<html lang="${LANGUAGE}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<meta name="description" content="${escapeText(description)}">
<link rel="canonical" href="${escapeText(url)}">
<link rel="alternate" type="application/rss+xml" title="${escapeText(SITE_NAME)}" href="${escapeText(SITE)}/feed.xml">
<link rel="icon" href="${ICON_URL}">
<meta property="og:type" content="${type}">
<meta property="og:url" content="${escapeText(url)}">
<meta property="og:title" content="${escapeText(title)}">
<meta property="og:description" content="${escapeText(description)}">
${head}<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Return the line with an article's date and category. */
function renderFacts({ publishedAt, category }) {
  const date = `<time datetime="${publishedAt}">${formatDay(publishedAt)}</time>`;
  return category ? `${date} · ${escapeText(category)}` : date;
}

function renderArticle(article) {
  const banner = escapeText(article.bannerUrl);
  let head = `<meta property="article:published_time" content="${article.publishedAt}">
<script type="application/ld+json">${structuredData(article)}</script>
`;
  let body = `<p><a href="${escapeText(SITE)}/">Articles</a></p>
<h1>${escapeText(article.title)}</h1>
<p>${renderFacts(article)}</p>
`;
  if (banner) {
    head = `<meta property="og:image" content="${banner}">\n${head}`;
    body += `<img class="banner" src="${banner}" alt="" width="1200" height="630">\n`;
  }
  body += scrollable(article.contentHtml);
  const { slug, metaTitle: title, metaDesc: description } = article;
  return renderPage({ type: "article", url: articleUrl(slug), title, description, head, body });
}

/** Return an article's entry in a list. */
function renderItem(article) {
  const link = `<a href="${escapeText(articleUrl(article.slug))}">${escapeText(article.title)}</a>`;
  return `<li>${link}<br>${renderFacts(article)}</li>\n`;
}

function renderList(articles, number, last) {
  const title = number > 1 ? `Articles, page ${number}` : "Articles";
  const link = (to, rel, text) =>
    to < 1 || to > last ? "" : `<a rel="${rel}" href="${escapeText(listUrl(to))}">${text}</a>\n`;
  const nav = link(number - 1, "prev", "Newer articles") + link(number + 1, "next", "Older articles");
  const body = `<h1>${title}</h1>\n<ul>\n${articles.map(renderItem).join("")}</ul>\n<nav>\n${nav}</nav>`;
  const description = "All our articles, the newest first.";
  return renderPage({ type: "website", url: listUrl(number), title, description, body });
}

/** Return the text of each file by its path, articles first, so that lists name only pages that exist. */
async function renderSite() {
  const articles = await fetchArticles();
  const { data } = await fetchJson("sitemap");
  const files = new Map(articles.map((article) => [`articles/${article.slug}/index.html`, renderArticle(article)]));
  const last = Math.max(1, Math.ceil(articles.length / PAGE_SIZE));
  for (let number = last; number > 0; number--) {
    const page = articles.slice((number - 1) * PAGE_SIZE, number * PAGE_SIZE);
    files.set(number > 1 ? `page/${number}/index.html` : "index.html", renderList(page, number, last));
  }
  return files.set("feed.xml", renderFeed(articles)).set("sitemap.xml", renderSitemap(data));
}

/** Replace the files that differ, each atomically, then remove the pages that no longer exist. */
async function writeSite(site, files) {
  for (const [name, text] of files) {
    const path = `${site}/${name}`;
    if ((await readFile(path, "utf-8").catch(() => null)) === text) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  }
  for (const folder of ["articles", "page"]) {
    for (const name of await readdir(`${site}/${folder}`).catch(() => [])) {
      if (!files.has(`${folder}/${name}/index.html`)) await rm(`${site}/${folder}/${name}`, { recursive: true });
    }
  }
}

const site = process.argv[2] ?? "site";
await writeSite(site, await renderSite());
