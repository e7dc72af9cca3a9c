import { formatDay } from "../articles.mjs";

/** The line with an article's date and category. */
export default function Facts({ article: { publishedAt, categoryLinks } }) {
  return (
    <>
      <time dateTime={publishedAt}>{formatDay(publishedAt)}</time>
      {categoryLinks.map(({ name, url }) => (
        <span key={name}>
          {" · "}
          <a href={url}>{name}</a>
        </span>
      ))}
    </>
  );
}
