import { allArticles } from "../../all-articles.mjs";
import { PAGE_SIZE, articleUrl, listUrl } from "../../articles.mjs";
import Facts from "../facts";

export const dynamicParams = false;

const countPages = async () => Math.max(1, Math.ceil((await allArticles).length / PAGE_SIZE));

async function readNumber(params) {
  const { page = [] } = await params;
  return Number(page[1] ?? 1);
}

export async function generateStaticParams() {
  return Array.from({ length: await countPages() }, (_, index) => ({ page: index ? ["page", String(index + 1)] : [] }));
}

const titleOf = (number) => (number > 1 ? `Articles, page ${number}` : "Articles");

export async function generateMetadata({ params }) {
  const number = await readNumber(params);
  const [url, title, description] = [listUrl(number), titleOf(number), "All our articles, the newest first."];
  const openGraph = { type: "website", url, title, description };
  return { title, description, alternates: { canonical: url }, openGraph };
}

export default async function Page({ params }) {
  const number = await readNumber(params);
  const articles = (await allArticles).slice((number - 1) * PAGE_SIZE, number * PAGE_SIZE);
  return (
    <>
      <h1>{titleOf(number)}</h1>
      <ul>
        {articles.map((article) => (
          <li key={article.slug}>
            <a href={articleUrl(article.slug)}>{article.title}</a>
            <br />
            <Facts article={article} />
          </li>
        ))}
      </ul>
      <nav>
        {number > 1 && <a rel="prev" href={listUrl(number - 1)}>Newer articles</a>}{" "}
        {number < (await countPages()) && <a rel="next" href={listUrl(number + 1)}>Older articles</a>}
      </nav>
    </>
  );
}
