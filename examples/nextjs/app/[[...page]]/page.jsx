// A list: all articles, a category or a keyword.
import { LABELS, SITE, SITE_NAME } from "../../articles.mjs";
import { content } from "../../content.mjs";
import Facts from "../facts";

export const dynamicParams = false;

export function generateStaticParams() {
  return content.lists.map(({ path }) => ({ page: path ? path.split("/") : [] }));
}

async function findList(params) {
  const { page = [] } = await params;
  // Next.js passes the path as it is to some functions, and percent-encoded to others.
  return content.lists.find(({ path }) => [path, encodeURI(path)].includes(page.join("/")));
}

export async function generateMetadata({ params }) {
  const { url, title, description } = await findList(params);
  const openGraph = { type: "website", url, title, description };
  return { title, description, alternates: { canonical: url }, openGraph };
}

export default async function Page({ params }) {
  const { path, title, articles, newerUrl, olderUrl } = await findList(params);
  return (
    <>
      {path && <p><a href={`${SITE}/`}>{SITE_NAME}</a></p>}
      <h1>{title}</h1>
      <ul>
        {articles.map((article) => (
          <li key={article.url}><a href={article.url}>{article.title}</a><br /><Facts article={article} /></li>
        ))}
      </ul>
      <nav>
        {newerUrl && <a rel="prev" href={newerUrl}>{LABELS.newerArticles}</a>}
        {olderUrl && <a rel="next" href={olderUrl}>{LABELS.olderArticles}</a>}
      </nav>
    </>
  );
}
