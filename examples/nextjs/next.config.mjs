import { SITE } from "./articles.mjs";

const basePath = SITE.split("/").slice(3).map((name) => `/${name}`).join("");

export default { output: "export", trailingSlash: true, basePath };
