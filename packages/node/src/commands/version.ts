/** `uniknode version`: prints the versions. */
import { Command } from "commander";
import { versionLine } from "../platform/lifecycle/version.ts";
import { printText } from "./print.ts";

export const versionCommand = (): Command => new Command("version").action(() => printText(versionLine()));
