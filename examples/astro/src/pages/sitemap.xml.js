import { fetchJson, renderSitemap } from "../../articles.mjs";

export const GET = async () => new Response(renderSitemap((await fetchJson("sitemap")).data));
