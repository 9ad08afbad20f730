/** `uniknode version`: prints the versions. */
import { Command } from "commander";
import { shownVersions } from "../platform/lifecycle/version.ts";
import { printText } from "./print.ts";

/** Formats the versions of protocol, program and runtime. */
export const versionLine = (): string => `uniknode ${shownVersions()} (Node.js ${process.versions.node})`;

export const versionCommand = (): Command =>
  new Command("version")
    .description("print the versions of the protocol, the program and its runtime")
    .action(() => printText(versionLine()));
