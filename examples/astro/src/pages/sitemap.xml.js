import { renderSitemap } from "../../articles.mjs";
import { articles } from "../content.mjs";

export const GET = () => new Response(renderSitemap(articles));
