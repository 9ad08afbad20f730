/** `uniknode version`. */
import { Command } from "commander";
import { programVersion } from "../platform/lifecycle/version.ts";

export const versionCommand = (): Command =>
  new Command("version")
    .description("print the version of the program and of its runtime")
    .action(
      () => void process.stdout.write(`uniknode ${programVersion()} (Node.js ${process.versions.node})\n`),
    );
