import { defineConfig } from "astro/config";
import { SITE } from "./articles.mjs";

export default defineConfig({ site: SITE, trailingSlash: "always" });
