import { ICON_URL, LANGUAGE, SITE, SITE_NAME } from "../../articles.mjs";

export default { url: SITE, name: SITE_NAME, language: LANGUAGE, icon: ICON_URL };
