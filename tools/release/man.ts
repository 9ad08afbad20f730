/** Generates the manual page uniknode(1) from the declarations of the commands. */
import type { Command } from "commander";
import { COMMANDS, GROUPS } from "../../packages/node/src/commands/catalogue.ts";
import { examplesOf } from "../../packages/node/src/commands/program.ts";
import { present } from "../../packages/node/src/platform/present.ts";

/** Commands with more options share the options of `uniknode run`, which lists them. */
const MAX_OPTIONS = 30;
const LISTING = "run";

const EXIT_STATUS: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "done"],
  ["1", "failed, for example because the node refused a transaction"],
  ["2", "the command line or the configuration is not valid"],
];

const FILES: readonly (readonly [path: string, meaning: string])[] = [
  ["/etc/uniknode/uniknode.env", "options of the service, as environment variables"],
  ["/var/lib/uniknode", "data folder of the service"],
  ["/opt/uniknode/docs", "guides and reference"],
];

/** @param seconds time of the release, since 1970 */
export function manualPage(program: Command, version: string, seconds: number): string {
  const date = new Date(seconds * 1_000).toISOString().slice(0, 10);
  return [
    `.TH UNIKNODE 1 "${date}" "uniknode ${escaped(version)}" "User Commands"`,
    // No hyphenation: names of options and variables are searched.
    ".nh",
    ".ad l",
    ".SH NAME",
    "uniknode \\- node of the Unikname Network",
    ".SH SYNOPSIS",
    ".B uniknode",
    ".I command",
    "[options]",
    ".SH DESCRIPTION",
    "One process with an embedded database: it follows the chain, forges, serves the HTTP API and delivers webhooks.",
    "Each option has an environment variable, which its description names in brackets.",
    ...GROUPS.flatMap((group) => groupSection(program, group)),
    ".SH EXIT STATUS",
    ...definitions(EXIT_STATUS),
    ".SH FILES",
    ...definitions(FILES),
    ".SH SEE ALSO",
    ".BR systemctl (1),",
    ".BR journalctl (1)",
    "",
  ].join("\n");
}

const groupSection = (program: Command, group: string): string[] => [
  `.SH ${group.replace(":", "").toUpperCase()}`,
  ...COMMANDS.filter((entry) => entry.group === group && !entry.isHidden).flatMap(({ name, examples }) =>
    commandSections(
      program,
      present(program.commands.find((command) => command.name() === name)),
      name,
      examples,
    ),
  ),
];

function commandSections(
  program: Command,
  command: Command,
  path: string,
  examples: readonly string[],
): string[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((below) =>
      commandSections(program, below, `${path} ${below.name()}`, examples),
    );
  const usage = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [
    `.SS ${escaped(["uniknode", path, ...usage].join(" "))}`,
    paragraph(`${command.description()}.`),
    ...definitions(
      command.registeredArguments.map((argument) => [argument.name(), argument.description] as const),
    ),
    ...optionLines(program, command),
    ".P",
    "Examples:",
    ".EX",
    ...examplesOf(path, examples).map((example) => escaped(`  ${example}`)),
    ".EE",
  ];
}

function optionLines(program: Command, command: Command): string[] {
  const listing = present(program.commands.find((other) => other.name() === LISTING));
  const isListed = command.options.length > MAX_OPTIONS && command !== listing;
  const taken = new Set(command.options.map(({ long }) => long));
  const missing = listing.options.flatMap(({ long }) => (long && !taken.has(long) ? [escaped(long)] : []));
  const inListing = new Set(listing.options.map(({ long }) => long));
  const own = command.options.filter(({ long }) => !isListed || !inListing.has(long));
  return [
    ...definitions(own.map(({ flags, description }) => [flags, description] as const)),
    ...(isListed
      ? [
          ".P",
          `It also takes the options of "uniknode ${LISTING}"${missing.length > 0 ? `, except ${missing.join(", ")}` : ""}.`,
        ]
      : []),
  ];
}

const definitions = (rows: readonly (readonly [term: string, text: string])[]): string[] =>
  rows.flatMap(([term, text]) => [".TP", `.B ${escaped(term)}`, paragraph(text)]);

/** Escapes a paragraph: a leading dot or quote would be a roff request. */
const paragraph = (text: string): string =>
  escaped(`${text.charAt(0).toUpperCase()}${text.slice(1)}`).replace(/^(?=[.'])/gm, "\\&");

/** Escapes hyphens, so that options can be searched and copied. */
const escaped = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/\s*\n\s*/g, " ");
