import { allArticles } from "../../../all-articles.mjs";
import { SITE, articleUrl, scrollable, structuredData } from "../../../articles.mjs";
import Facts from "../../facts";

export const dynamicParams = false;

export async function generateStaticParams() {
  const articles = await allArticles;
  return articles.map(({ slug }) => ({ slug }));
}

async function findArticle(params) {
  const { slug } = await params;
  const articles = await allArticles;
  // Next.js passes the slug as it is to some functions, and percent-encoded to others.
  return articles.find((article) => [article.slug, encodeURIComponent(article.slug)].includes(slug));
}

export async function generateMetadata({ params }) {
  const { slug, metaTitle: title, metaDesc: description, bannerUrl, publishedAt } = await findArticle(params);
  const url = articleUrl(slug);
  const images = bannerUrl ? [bannerUrl] : [];
  return {
    title,
    description,
    alternates: { canonical: url },
    openGraph: { type: "article", url, title, description, images, publishedTime: publishedAt },
  };
}

export default async function Page({ params }) {
  const article = await findArticle(params);
  return (
    <>
      <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: structuredData(article) }} />
      <p>
        <a href={`${SITE}/`}>Articles</a>
      </p>
      <h1>{article.title}</h1>
      <p>
        <Facts article={article} />
      </p>
      {article.bannerUrl && <img className="banner" src={article.bannerUrl} alt="" width="1200" height="630" />}
      <div dangerouslySetInnerHTML={{ __html: scrollable(article.contentHtml) }} />
    </>
  );
}
