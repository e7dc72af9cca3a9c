import "../page.css";
import { ICON_URL, LANGUAGE, SITE, SITE_NAME } from "../articles.mjs";

export default function Layout({ children }) {
  return (
    <html lang={LANGUAGE}>
      <head>
        <link rel="alternate" type="application/rss+xml" title={SITE_NAME} href={`${SITE}/feed.xml`} />
        <link rel="icon" href={ICON_URL} />
      </head>
      <body>
        <main>{children}</main>
      </body>
    </html>
  );
}
