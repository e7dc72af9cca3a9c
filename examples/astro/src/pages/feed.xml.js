import { renderFeed } from "../../articles.mjs";
import { content } from "../../content.mjs";

export const GET = async () => new Response(renderFeed((await content).articles));
