// Write sitemaps of 20,000 URLs, and a sitemap index: node sitemaps.mjs FOLDER
import { writeFile } from "node:fs/promises";
import { SITE, articleUrl, escapeText, exitWith, fetchJson } from "./articles.mjs";

const URLS_PER_FILE = 20_000;
const folder = process.argv[2] ?? exitWith("Usage: node sitemaps.mjs FOLDER");

process.on("uncaughtException", (error) => exitWith(error.message));

const writeXml = (name, root, elements) => writeFile(`${folder}/${name}`, `<?xml version="1.0" encoding="UTF-8"?>
<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${elements.join("\n")}
</${root}>
`);

const { data } = await fetchJson("sitemap");
const sitemaps = [];
for (let start = 0; start < data.length; start += URLS_PER_FILE) {
  const name = `sitemap-${sitemaps.length + 1}.xml`;
  const urls = data.slice(start, start + URLS_PER_FILE).map(({ url, lastmod }) =>
    `<url><loc>${escapeText(articleUrl(url))}</loc><lastmod>${lastmod}</lastmod></url>`);
  await writeXml(name, "urlset", urls);
  sitemaps.push(`<sitemap><loc>${escapeText(SITE)}/${name}</loc></sitemap>`);
}
await writeXml("sitemap.xml", "sitemapindex", sitemaps);
