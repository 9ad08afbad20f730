/** This program: its versions, and its command lines as the user types them, for advice in messages. */
import { readFileSync } from "node:fs";

/** Version of the old network's software whose interface and peer protocol this node speaks. */
export const PROTOCOL_VERSION = "5.7.2";

export function programVersion(): string {
  const path = new URL("../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}

/** Returns both versions as readable text: `5.7.2 protocol, 0.2.0 program`. */
export const shownVersions = (): string => `${PROTOCOL_VERSION} protocol, ${programVersion()} program`;

/** Returns the versions of protocol, program and runtime as one line. */
export const versionLine = (): string => `uniknode ${shownVersions()} (Node.js ${process.versions.node})`;

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
