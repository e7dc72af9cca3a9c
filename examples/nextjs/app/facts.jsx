import { formatDay } from "../articles.mjs";

/** The line with an article's date and category. */
export default function Facts({ article: { publishedAt, category } }) {
  return (
    <>
      <time dateTime={publishedAt}>{formatDay(publishedAt)}</time>
      {category && ` · ${category}`}
    </>
  );
}
