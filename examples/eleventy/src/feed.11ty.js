import { renderFeed } from "../articles.mjs";

export default { data: { permalink: "/feed.xml" }, render: ({ site }) => renderFeed(site.articles) };
