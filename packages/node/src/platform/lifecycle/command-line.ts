/** Builds commands of this program as the user types them, for advice in messages. */

/**
 * Returns a command line that runs another command of this program, started in the same way as this process.
 *
 * @param environment of this process
 */
export function commandLine(environment: NodeJS.ProcessEnv, ...args: readonly string[]): string {
  return [programName(environment), ...args.map(quoted)].join(" ");
}

function programName(environment: NodeJS.ProcessEnv): string {
  if (environment.npm_lifecycle_event === "npx") return "npx uniknode";
  const isClone = environment.npm_package_name === "uniknode-workspace";
  return isClone && environment.npm_lifecycle_event === "start" ? "npm start --" : "uniknode";
}

/** Quotes a text for a shell. */
const quoted = (text: string): string =>
  /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
