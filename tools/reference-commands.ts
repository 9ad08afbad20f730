/** Generates the page of all commands from their declarations. */
import type { Command } from "commander";
import { COMMANDS, GROUPS } from "../packages/node/src/commands/catalogue.ts";
import { createProgram, examplesOf } from "../packages/node/src/commands/program.ts";
import { present } from "../packages/node/src/platform/present.ts";

/** Returns the content of docs/reference/commands.md. */
export async function commandsPage(): Promise<string> {
  const { commands } = await createProgram();
  return [
    "# Commands",
    "",
    "`uniknode --help` shows the commands in these groups, `uniknode COMMAND --help` one of them with its options and examples, and",
    "`uniknode --version` (`-v`) the versions. Options that have an environment variable are in [configuration.md](configuration.md).",
    "",
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | done |",
    "| 1 | failed, for example because the node refused a transaction |",
    "| 2 | the command line or the configuration is not valid |",
    "",
    ...GROUPS.flatMap((group) => [
      `## ${group.replace(":", "")}`,
      "",
      ...COMMANDS.filter((entry) => entry.group === group && !entry.isHidden).flatMap(({ name, examples }) =>
        sections(present(commands.find((command) => command.name() === name)), name, examples),
      ),
    ]),
  ].join("\n");
}

function sections(command: Command, path: string, examples: readonly string[]): string[] {
  if (command.commands.length > 0) {
    return [
      `### uniknode ${path}`,
      "",
      sentence(command),
      "",
      ...command.commands.flatMap((below) => sections(below, `${path} ${below.name()}`, examples)),
    ];
  }
  const names = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const flags = command.options.map(({ flags }) => `\`${flags}\``).join(", ");
  return [
    `### uniknode ${path}`,
    "",
    sentence(command),
    "",
    "```",
    ["uniknode", path, "[options]", ...names].join(" "),
    "```",
    "",
    ...command.registeredArguments.map((argument) => `* \`${argument.name()}\`: ${argument.description}`),
    ...(names.length > 0 ? [""] : []),
    ...(flags === "" ? [] : [`Options: ${flags}.`, ""]),
    "Examples:",
    "",
    "```",
    ...examplesOf(path, examples),
    "```",
    "",
  ];
}

function sentence(command: Command): string {
  const text = command.description();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
