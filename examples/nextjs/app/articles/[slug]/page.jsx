import { LABELS, SITE, SITE_NAME } from "../../../articles.mjs";
import { content } from "../../../content.mjs";
import Facts from "../../facts";

export const dynamicParams = false;

export function generateStaticParams() {
  return content.articles.map(({ slug }) => ({ slug }));
}

async function findArticle(params) {
  const { slug } = await params;
  // Next.js passes the slug as it is to some functions, and percent-encoded to others.
  return content.articles.find((article) => [article.slug, encodeURIComponent(article.slug)].includes(slug));
}

export async function generateMetadata({ params }) {
  const { url, metaTitle: title, metaDesc: description, bannerUrl, publishedAt } = await findArticle(params);
  const images = bannerUrl ? [bannerUrl] : [];
  return {
    title,
    description,
    alternates: { canonical: url },
    openGraph: { type: "article", url, title, description, images, publishedTime: publishedAt },
  };
}

function Keywords({ links }) {
  return (
    <p>
      {`${LABELS.keywords}: `}
      {links.map(({ name, url }, index) => (
        <span key={name}>{index > 0 && ", "}<a rel="tag" href={url}>{name}</a></span>
      ))}
    </p>
  );
}

export default async function Page({ params }) {
  const article = await findArticle(params);
  const { keywordLinks, newer, older } = article;
  return (
    <>
      <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: article.jsonLd }} />
      <p><a href={`${SITE}/`}>{SITE_NAME}</a></p>
      <h1>{article.title}</h1>
      <p><Facts article={article} /></p>
      {article.bannerUrl && <img className="banner" src={article.bannerUrl} alt="" width="1200" height="630" />}
      <div dangerouslySetInnerHTML={{ __html: article.html }} />
      {keywordLinks.length > 0 && <Keywords links={keywordLinks} />}
      <nav>
        {newer && <a rel="prev" href={newer.url}>{`${LABELS.newer}: ${newer.title}`}</a>}
        {older && <a rel="next" href={older.url}>{`${LABELS.older}: ${older.title}`}</a>}
      </nav>
    </>
  );
}
