/** What can follow each command: derived from the declarations. */
import type { Command } from "commander";

export type Flag = { readonly flag: string; readonly takesValue: boolean; readonly description: string };

/** A command with what may follow it. */
export type Place = {
  /** Names from the program down: `""`, `" webhooks"`, `" webhooks list"`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
};

/** The program and every command below it. */
export function placesOf(command: Command, path = ""): readonly Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).map((below) => ({
    name: below.name(),
    description: firstSentence(below.description()),
  }));
  const flags = help.visibleOptions(command).map(({ long, required, optional, description }) => ({
    flag: long ?? "",
    takesValue: required || optional,
    description: firstSentence(description),
  }));
  return [
    { path, commands, flags },
    ...command.commands.flatMap((below) => placesOf(below, `${path} ${below.name()}`)),
  ];
}

export const wordsOf = ({ commands, flags }: Place): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...flags.map(({ flag }) => flag),
];

const firstSentence = (text: string): string => text.split(/[.;(\n]/, 1)[0]!.trim();
