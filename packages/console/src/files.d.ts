/** Files that the build reads beside sources. */
declare module "*.css";
/** Address of the built script of a worker. */
declare module "*?worker&url" {
  const url: string;
  export default url;
}
declare module "*?raw" {
  /** The text of the file. */
  const text: string;
  export default text;
}
