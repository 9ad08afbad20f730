/** Types of non-source files that the build imports. */
declare module "*.css";
/** URL of the built worker script. */
declare module "*?worker&url" {
  const url: string;
  export default url;
}
declare module "*?raw" {
  /** Text of the file. */
  const text: string;
  export default text;
}
