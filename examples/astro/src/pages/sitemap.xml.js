import { renderSitemap } from "../../articles.mjs";
import { content } from "../content.mjs";

export const GET = () => new Response(renderSitemap(content.articles));
