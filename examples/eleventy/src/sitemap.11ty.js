import { fetchJson, renderSitemap } from "../articles.mjs";

const { data } = await fetchJson("sitemap");

export default { data: { permalink: "/sitemap.xml" }, render: () => renderSitemap(data) };
