import { renderSitemap } from "../articles.mjs";

export default { data: { permalink: "/sitemap.xml" }, render: ({ site }) => renderSitemap(site.articles) };
