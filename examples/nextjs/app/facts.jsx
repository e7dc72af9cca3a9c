/** The line with an article's date and category. */
export default function Facts({ article: { publishedAt, day, categoryLinks } }) {
  return (
    <>
      <time dateTime={publishedAt}>{day}</time>
      {categoryLinks.map(({ name, url }) => (
        <span key={name}> · <a href={url}>{name}</a></span>
      ))}
    </>
  );
}
