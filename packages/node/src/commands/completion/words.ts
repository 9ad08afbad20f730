/** What can follow each command: derived from the declarations. */
import type { Command } from "commander";

export type Flag = {
  readonly flag: string;
  readonly takesValue: boolean;
  readonly description: string;
  /** The only values that it takes; empty where others are possible. */
  readonly choices: readonly string[];
};

/** A command with what may follow it. */
export type Place = {
  /** Names from the program down: `""`, `" webhooks"`, `" webhooks list"`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  /** The only values of its argument; empty where it has none, or others are possible. */
  readonly choices: readonly string[];
};

/** The program and every command below it. */
export function placesOf(command: Command, path = ""): readonly Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).map((below) => ({
    name: below.name(),
    description: firstSentence(below.description()),
  }));
  const flags = help.visibleOptions(command).map(({ long, required, optional, description, argChoices }) => ({
    flag: long ?? "",
    takesValue: required || optional,
    description: firstSentence(description),
    choices: argChoices ?? [],
  }));
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  return [
    { path, commands, flags, choices },
    ...command.commands.flatMap((below) => placesOf(below, `${path} ${below.name()}`)),
  ];
}

export const wordsOf = ({ commands, flags, choices }: Place): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...choices,
  ...flags.map(({ flag }) => flag),
];

const firstSentence = (text: string): string => text.split(/[.;(\n]/, 1)[0]!.trim();
