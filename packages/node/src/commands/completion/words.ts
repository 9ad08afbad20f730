/** Derives the words that can follow each command from its declaration. */
import type { Argument, Command, Option } from "commander";
import { EVENTS, loggedName } from "../../events/catalogue.ts";
import { OptionFlag } from "../options.ts";
import { WEBHOOK_ID } from "../webhooks/service.ts";

export type Flag = {
  readonly flag: string;
  readonly takesValue: boolean;
  readonly description: string;
  /** Values to offer; empty if a file or any text may follow. */
  readonly choices: readonly string[];
};

/** A command with the words that may follow it. */
export type Place = {
  /** Command path: `""`, `" webhooks"`, `" webhooks list"`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  /** Values to offer for its first argument; empty if it has none, or any text may follow. */
  readonly choices: readonly string[];
  /** True if its first argument is the id of a webhook, which only the node knows. */
  readonly takesWebhook: boolean;
};

const EVENT_NAMES = Object.keys(EVENTS).filter((name) => loggedName(name) === name);

/** Lists the program and all its commands. */
export function placesOf(command: Command, path = ""): readonly Place[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const commands = visible.map((below) => ({
    name: below.name(),
    description: firstSentence(below.description()),
  }));
  const flags = help.visibleOptions(command).map((option) => ({
    flag: option.long ?? "",
    takesValue: option.required || option.optional,
    description: firstSentence(option.description),
    choices: choicesOf(option),
  }));
  const [argument] = command.registeredArguments;
  const choices = argument === undefined ? [] : choicesOf(argument);
  const takesWebhook = argument?.description === WEBHOOK_ID;
  return [
    { path, commands, flags, choices, takesWebhook },
    ...command.commands
      .filter((below) => visible.includes(below))
      .flatMap((below) => placesOf(below, `${path} ${below.name()}`)),
  ];
}

/** Returns the values to offer; for events only names, although patterns are accepted as well. */
function choicesOf(part: Option | Argument): readonly string[] {
  if (part.name() === "event") return EVENT_NAMES;
  return part.argChoices ?? (part instanceof OptionFlag ? part.values : []);
}

/** Words that may always follow, without values of the first argument. */
export const wordsOf = ({ commands, flags }: Place): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...flags.map(({ flag }) => flag),
];

const firstSentence = (text: string): string => text.replace(/[.;(\n][\s\S]*/, "").trim();
