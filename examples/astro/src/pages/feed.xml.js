import { renderFeed } from "../../articles.mjs";
import { content } from "../content.mjs";

export const GET = () => new Response(renderFeed(content.articles));
