import { renderFeed } from "../../articles.mjs";
import { content } from "../../content.mjs";

export const dynamic = "force-static";

export const GET = async () => new Response(renderFeed((await content).articles));
