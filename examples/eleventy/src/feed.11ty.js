import { renderFeed } from "../articles.mjs";

export default { data: { permalink: "/feed.xml" }, render: ({ articles }) => renderFeed(articles) };
