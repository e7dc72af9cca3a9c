import { articleUrl, escapeText } from "../../articles.mjs";
import { articles } from "../content.mjs";

const renderUrl = ({ slug, lastmod }) =>
  `<url><loc>${escapeText(articleUrl(slug))}</loc><lastmod>${lastmod}</lastmod></url>`;

const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${articles.map(renderUrl).join("\n")}
</urlset>
`;

export const GET = () => new Response(sitemap);
