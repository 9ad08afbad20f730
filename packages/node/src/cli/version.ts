/** `uniknode version`. */
import { readFileSync } from "node:fs";
import { Command } from "commander";

/** Version of this program. */
export function programVersion(): string {
  const path = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}

export const versionCommand = (): Command =>
  new Command("version")
    .description("print the version of the program and of its runtime")
    .action(
      () => void process.stdout.write(`uniknode ${programVersion()} (Node.js ${process.versions.node})\n`),
    );
