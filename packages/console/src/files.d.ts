/** Files that the build reads beside sources. */
declare module "*.css";
