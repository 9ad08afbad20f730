/** Entry point of the program `uniknode`: parses the command line and returns the exit code. */
import { type Command, CommanderError } from "commander";
import { commandLine } from "../platform/lifecycle/command-line.ts";
import { collectInOneThread } from "../platform/lifecycle/heap.ts";
import { unknownVariables, variablesOf } from "./config/variables.ts";
import { describeFailure } from "./failure.ts";
import { groupHelp, readHelpAll } from "./help-groups.ts";
import { createProgram } from "./program.ts";

const ignore = () => {};

/** Runs a command line. Returns 0 for success, 1 for a failure, 2 for invalid arguments or options. */
export async function main(words: readonly string[]): Promise<number> {
  collectInOneThread();
  // A closed pipe, such as to `head`, must not change the exit code.
  for (const stream of [process.stdout, process.stderr]) stream.off("error", ignore).on("error", ignore);
  const { isAll, args } = readHelpAll(words);
  // An argument with the name of another command also loads that one.
  const program = await createProgram((name) => args.includes(name));
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

/** Rewrites `help webhooks list` to `webhooks list --help`, or to a command line that fails on the unknown name. */
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

/** Makes the program and all subcommands throw instead of exiting, so that `main` chooses the exit code. */
function overrideExit(command: Command, path: readonly string[] = []): void {
  const help = commandLine(process.env, ...path, "--help");
  command.exitOverride().showHelpAfterError(`${help} shows usage and examples`);
  for (const below of command.commands) overrideExit(below, [...path, below.name()]);
}

/** Shells run the completion commands; `config --check` fails on unknown variables instead. */
const hasNoWarning = (command: Command): boolean =>
  ["completion", "complete"].includes(command.name()) || Boolean(command.opts<{ check?: boolean }>().check);

async function warnOfVariables(command: Command): Promise<void> {
  if (hasNoWarning(command)) return;
  for (const sentence of await unknownVariables(process.env, createProgram, variablesOf(command)))
    process.stderr.write(`uniknode: warning: ${sentence}\n`);
}

const NO_PASSPHRASE =
  "Passphrases cannot be arguments, because every user of the machine can read them. Use --passphrase-file FILE, set\n" +
  "UNIKNODE_PASSPHRASE, or type the passphrase at the prompt.\n";

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
