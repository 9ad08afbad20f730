/** Entry point of the program `uniknode`: runs a command line, describes a failure in one sentence, and returns the exit code. */
import { setImmediate as nextTick } from "node:timers/promises";
import { type Command, CommanderError } from "commander";
import { ListenError } from "../platform/addresses.ts";
import { CodedError, ConfigError } from "../platform/coded-error.ts";
import { collectInOneThread } from "../platform/lifecycle/process.ts";
import { commandLine } from "../platform/lifecycle/program.ts";
import { linesWithoutControls, shortened, withoutControls } from "../platform/text/foreign.ts";
import { dataErrorOf } from "../store/engine/data-error.ts";
import { lockHolderText, portHolder } from "../store/engine/lock-holder.ts";
import { MigrationError } from "../store/engine/migrations.ts";
import { unknownVariables, variablesOf } from "./flags.ts";
import { createProgram, groupHelp, readHelpAll } from "./program.ts";

const ignore = () => {};

/**
 * Runs a command, and fails if its output could not be written. A closed pipe, such as to `head`, must not change the
 * exit code.
 */
async function runWithOutput(run: () => Promise<unknown>): Promise<void> {
  let failure: NodeJS.ErrnoException | undefined;
  const watch = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") failure ??= error;
  };
  process.stdout.on("error", watch);
  try {
    await run();
    // The stream reports an error after the write has returned.
    await nextTick();
  } finally {
    process.stdout.off("error", watch);
  }
  // A command that changes something must not be repeated.
  if (failure)
    throw new CodedError(
      String(failure.code),
      `the command was successful, but its output could not be written: ${failure.message}`,
      { isRetryable: false, cause: failure },
    );
}

/** Runs a command line. Returns 0 for success, 1 for a failure, 2 for invalid arguments or options. */
export async function main(words: readonly string[]): Promise<number> {
  collectInOneThread();
  for (const stream of [process.stdout, process.stderr]) stream.off("error", ignore).on("error", ignore);
  const { isAll, args } = readHelpAll(words);
  // An argument with the name of another command also loads that one.
  const program = await createProgram((name) => args.includes(name));
  overrideExit(program);
  groupHelp(program, isAll);
  program.hook("preAction", (_program, command) => warnOfVariables(command));
  try {
    await runWithOutput(() => program.parseAsync(withoutHelp(program, args), { from: "user" }));
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

type Failure = {
  /** Text for standard error, with a final line feed. */
  readonly text: string;
  /** 1: failed. 2: invalid arguments, options or files of the user. */
  readonly exitCode: 1 | 2;
};

/** Maximum of characters of a message, which may quote a node or a file, and of a stack. */
const MAX_MESSAGE = 4_000;
const MAX_STACK = 16_000;

const NO_NODE = "give the base URL of a node with --url, such as http://127.0.0.1:4003";

/** Next steps for errors whose message names only the reason. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  API_UNREACHABLE:
    'is the node running? Start a dev chain with "uniknode dev", or give another node with --url',
  API_NOT_FOUND: "check the id, and that the node at --url belongs to the right network",
  API_TIMEOUT: "the node is busy or stopped; check its /health/ready, or increase --timeout",
  API_UNAUTHORIZED:
    'give the webhook token with --token; "uniknode token" prints it on the machine of the node',
  API_RATE_LIMITED: "retry in a minute",
  API_RESPONSE_INVALID: NO_NODE,
  SQLITE_BUSY: "another process is writing to this database; retry, or stop that process",
  EACCES: "permission denied for this user; change the permissions, or choose another path or port",
  EEXIST: "choose another name, or remove the existing file first",
  EISDIR: "give a file, not a folder",
  ENOENT: "check the path",
  ENOSPC: "free some space, or write to another disk",
  EPIPE: "the program that read the output has ended",
};

/** Next steps on the command line for refusals that the node explains itself. */
const NODE_STEPS: Readonly<Record<string, string>> = {
  PATH_UNKNOWN: NO_NODE,
  TOKEN_MISSING: "give the token with --token",
  TOKEN_WRONG: "give the token with --token",
};

/** Next steps for connection failures, by error code of the runtime. */
const CONNECTION_STEPS: readonly (readonly [code: RegExp, step: string])[] = [
  [/^ERR_SSL_/, "the server does not use TLS: give --url http://... instead of https://..."],
  [/CERT|^ERR_TLS/, "the certificate is not trusted: add its authority with NODE_EXTRA_CA_CERTS=FILE"],
  [/^(ENOTFOUND|EAI_\w+)$/, "check the host name in --url"],
  [
    /^(UND_ERR_SOCKET|ECONNRESET|HPE_\w+|HTTPParserError)$/,
    "the server does not respond with HTTP: check the port in --url, and use https:// if the server uses TLS",
  ],
];

const DAMAGED =
  'start a dev chain over with "uniknode dev --reset"; for any other node restore a snapshot into an empty folder ' +
  'with "uniknode snapshot restore"';

const REPORT =
  'This is a bug in uniknode. Please report it, with these lines and what you did: CONTRIBUTING.md, "Report a bug".';

/** @param hasStack also show the stack of expected failures */
export function describeFailure(failure: unknown, hasStack: boolean): Failure {
  const error = ofDatabase(failure);
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  const code = expectedCode(error);
  const calls = shortened(linesWithoutControls(stack || message), MAX_STACK);
  if (code === undefined) return { text: `uniknode: ${calls}\n${REPORT}\n`, exitCode: 1 };
  const nextStep = nextStepOf(code, error);
  const text = `uniknode: ${shown(error, message)}${nextStep === undefined ? "" : `; ${nextStep}`}\n`;
  return { text: hasStack ? `${text}${calls}\n` : text, exitCode: isUnusable(error) ? 2 : 1 };
}

/** Keeps line feeds only in configuration errors of this program: in foreign text, they could forge a line. */
function shown(error: unknown, message: string): string {
  const text = isUnusable(error) ? linesWithoutControls(message) : withoutControls(message);
  return shortened(text, MAX_MESSAGE);
}

function nextStepOf(code: string, error: unknown): string | undefined {
  const { nodeCode, cause } = Object(error) as { nodeCode?: string; cause?: unknown };
  if (error instanceof ListenError) return portUserOf(error);
  if (code === "API_UNREACHABLE") return connectionStepOf(cause) ?? NEXT_STEPS[code];
  if (code === "API_UNAUTHORIZED" && nodeCode !== undefined) return NODE_STEPS[nodeCode];
  return NODE_STEPS[nodeCode ?? ""] ?? NEXT_STEPS[code];
}

/** Returns the other node that uses the port of a server, if it is one. */
function portUserOf({ port, cause }: ListenError): string | undefined {
  if (Object(cause).code !== "EADDRINUSE") return undefined;
  const holder = portHolder(port);
  return holder && `another uniknode uses it${lockHolderText(holder)}`;
}

/** Reads the error code of a failed fetch from its cause, or from the cause of that. */
function connectionStepOf(cause: unknown): string | undefined {
  const { code, cause: inner } = Object(cause) as {
    code?: unknown;
    cause?: { code?: unknown; name?: unknown };
  };
  const text = String(inner?.code ?? code ?? inner?.name);
  return CONNECTION_STEPS.find(([pattern]) => pattern.test(text))?.[1];
}

/** Codes of errors that are none of a class below, and that a restart does not fix. */
const UNUSABLE: readonly unknown[] = ["API_ARGUMENT", "CHAIN_NETWORK_MISMATCH", "CHAIN_UNCHECKED"];

/** Returns true if the user must change the options, or the version of the program. */
const isUnusable = (error: unknown): boolean =>
  error instanceof ConfigError ||
  UNUSABLE.includes((error as { code?: unknown }).code) ||
  (error instanceof MigrationError && error.code !== "MIGRATION_CHANGED");

/** Adds the file and a remedy to errors of the database driver. */
function ofDatabase(error: unknown): unknown {
  const { code, path } = Object(error) as { code?: unknown; path?: string };
  return String(code).startsWith("SQLITE_") ? dataErrorOf(error, path, DAMAGED) : error;
}

/** Codes of the runtime and the database that only a bug in the program can cause. */
const FAULT = /^(ERR_|SQLITE_(ERROR|MISUSE|CONSTRAINT|MISMATCH|RANGE|SCHEMA)|SQLITE_INTERNAL)/;

/** Returns the code of an expected error, or undefined for a bug. */
function expectedCode(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  if (typeof code !== "string" && typeof code !== "number") return undefined;
  return FAULT.test(String(code)) ? undefined : String(code);
}
