import { fetchJson, renderSitemap } from "../../articles.mjs";

export const dynamic = "force-static";

export const GET = async () => new Response(renderSitemap((await fetchJson("sitemap")).data));
