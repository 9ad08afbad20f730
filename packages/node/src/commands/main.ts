/** The program `uniknode`: its commands and exit codes. */
import { type Command, CommanderError } from "commander";
import { commandLine } from "../platform/lifecycle/command-line.ts";
import { limitHeapGrowth } from "../platform/lifecycle/heap.ts";
import { COMMANDS } from "./catalogue.ts";
import { unknownVariables, variablesOf } from "./config/variables.ts";
import { describeFailure } from "./failure.ts";
import { groupHelp, readHelpAll } from "./help-groups.ts";
import { createProgram } from "./program.ts";

const ignore = () => {};

/** Exit codes: 0 success, 1 failure, 2 invalid arguments or options. */
export async function main(words: readonly string[]): Promise<number> {
  limitHeapGrowth();
  // A reader that has ended, such as `head`, must not change the exit code.
  for (const stream of [process.stdout, process.stderr]) stream.off("error", ignore).on("error", ignore);
  const { isAll, args } = readHelpAll(words);
  const asked = COMMANDS.filter(({ name }) => name === (args[0] === "help" ? args[1] : args[0]));
  const program = await createProgram(asked.length > 0 ? asked : COMMANDS);
  overrideExit(program);
  groupHelp(program, isAll);
  program.hook("preAction", (_program, command) => warnOfVariables(command));
  try {
    await program.parseAsync(withoutHelp(program, args), { from: "user" });
    return 0;
  } catch (error) {
    return toExitCode(error);
  }
}

/** `help webhooks list` is `webhooks list --help`; with a name that is none, the command line that says so. */
function withoutHelp(program: Command, args: readonly string[]): readonly string[] {
  const [first, ...names] = args;
  if (first !== "help" || names.length === 0) return args;
  const path: string[] = [];
  let command = program;
  for (const name of names) {
    if (command.commands.length === 0) break;
    path.push(name);
    const below = command.commands.find((below) => below.name() === name);
    if (below === undefined) return path;
    command = below;
  }
  return [...path, "--help"];
}

/** Lets `main` choose the exit code, for the program and all its subcommands. */
function overrideExit(command: Command, path: readonly string[] = []): void {
  const help = commandLine(process.env, ...path, "--help");
  command.exitOverride().showHelpAfterError(`${help} shows what is expected, with examples`);
  for (const below of command.commands) overrideExit(below, [...path, below.name()]);
}

/** Shells run these two themselves; `config --check` fails on unknown variables instead. */
const hasNoWarning = (command: Command): boolean =>
  ["completion", "complete"].includes(command.name()) || Boolean(command.opts<{ check?: boolean }>().check);

async function warnOfVariables(command: Command): Promise<void> {
  if (hasNoWarning(command)) return;
  for (const sentence of await unknownVariables(process.env, createProgram, variablesOf(command)))
    process.stderr.write(`uniknode: warning: ${sentence}\n`);
}

const NO_PASSPHRASE =
  "A passphrase is never an argument: every user of the machine can read the arguments. Give --passphrase-file FILE, set\n" +
  "UNIKNODE_PASSPHRASE, or type it when you are asked.\n";

function toExitCode(error: unknown): number {
  // Commander has already written its message; --help is not an error.
  if (error instanceof CommanderError) {
    if (error.code === "commander.unknownOption" && /passphrase|secret|mnemonic/.test(error.message)) {
      process.stderr.write(NO_PASSPHRASE);
    }
    return error.exitCode === 0 ? 0 : 2;
  }
  const { text, exitCode } = describeFailure(error, Boolean(process.env.UNIKNODE_STACK));
  process.stderr.write(text);
  return exitCode;
}
