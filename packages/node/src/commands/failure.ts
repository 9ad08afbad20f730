/** How a command says that it failed: one sentence, and the stack of unexpected errors. */
import { ConfigError } from "../platform/config-error.ts";
import { linesWithoutControls, shortened, withoutControls } from "../platform/text/foreign.ts";
import { dataErrorOf } from "../store/engine/data-error.ts";
import { MigrationError } from "../store/engine/migrations.ts";

export type Failure = {
  /** For standard error, with its line feed. */
  readonly text: string;
  /** 1: failed. 2: the arguments, options or files of the user cannot be used. */
  readonly exitCode: 1 | 2;
};

/** Characters of a message, in which there may be the text of a node or a file, and of calls. */
const MAX_MESSAGE = 4_000;
const MAX_STACK = 16_000;

const NO_NODE = "name the base URL of a node with --url, such as http://127.0.0.1:4003";

/** What to do about errors that say no more than their reason. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  API_UNREACHABLE:
    'is the node running? Start a dev chain with "uniknode dev", or name another node with --url',
  API_NOT_FOUND: "check the name or the number, and that --url names a node of the right network",
  API_TIMEOUT: "the node is busy or stopped; look at its /health/ready, or give it more time with --timeout",
  API_UNAUTHORIZED:
    'give the webhook token with --token; "uniknode token" shows it on the machine of the node',
  API_RATE_LIMITED: "try again in a minute",
  API_ANSWER_INVALID: NO_NODE,
  SQLITE_BUSY: "another process writes to this database; try again, or stop it first",
  EACCES: "this user may not do that; change the permissions, or choose another path or port",
  EEXIST: "choose another name, or remove it first",
  EISDIR: "name a file, not a folder",
  ENOENT: "check the path",
  ENOSPC: "free some space, or write to another disk",
  EPIPE: "the program that read the output has ended",
};

/** What to do on the command line about refusals of a node that says the rest itself. */
const NODE_STEPS: Readonly<Record<string, string>> = {
  PATH_UNKNOWN: NO_NODE,
  TOKEN_MISSING: "give it with --token",
  TOKEN_WRONG: "give it with --token",
};

/** What to do about connections that fail for a known reason: codes of the runtime. */
const CONNECTION_STEPS: readonly (readonly [code: RegExp, step: string])[] = [
  [/^ERR_SSL_/, "no HTTPS server answers there: name the node with --url http://..., without the s"],
  [/CERT|^ERR_TLS/, "the certificate is not trusted: name its authority with NODE_EXTRA_CA_CERTS=FILE"],
  [/^(ENOTFOUND|EAI_\w+)$/, "check the host name in --url"],
  [
    /^(UND_ERR_SOCKET|ECONNRESET|HPE_\w+|HTTPParserError)$/,
    "no HTTP server answers there: check the port in --url, and name a server with TLS with https://...",
  ],
];

const DAMAGED =
  'start a dev chain over with "uniknode dev --reset"; for any other node restore a snapshot into an empty folder ' +
  'with "uniknode snapshot restore"';

const REPORT =
  'This is a bug in uniknode. Please report it, with these lines and what you did: CONTRIBUTING.md, "Report a fault".';

/** @param hasStack show the calls of expected failures, too */
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

/** Only what the program finds in options has several lines; in what others say, a line feed could forge one. */
function shown(error: unknown, message: string): string {
  const text = isUnusable(error) ? linesWithoutControls(message) : withoutControls(message);
  return shortened(text, MAX_MESSAGE);
}

function nextStepOf(code: string, error: unknown): string | undefined {
  const { nodeCode, cause } = Object(error) as { nodeCode?: string; cause?: unknown };
  if (code === "API_UNREACHABLE") return connectionStepOf(cause) ?? NEXT_STEPS[code];
  if (code === "API_UNAUTHORIZED" && nodeCode !== undefined) return NODE_STEPS[nodeCode];
  return NODE_STEPS[nodeCode ?? ""] ?? NEXT_STEPS[code];
}

/** The cause of a failed fetch, or its own cause, has the code. */
function connectionStepOf(cause: unknown): string | undefined {
  const { code, cause: inner } = Object(cause) as {
    code?: unknown;
    cause?: { code?: unknown; name?: unknown };
  };
  const text = String(inner?.code ?? code ?? inner?.name);
  return CONNECTION_STEPS.find(([pattern]) => pattern.test(text))?.[1];
}

/** The user has to give something else: options, or data of this version. */
const isUnusable = (error: unknown): boolean =>
  error instanceof ConfigError ||
  (error as { code?: unknown }).code === "API_ARGUMENT" ||
  (error instanceof MigrationError && error.code === "MIGRATION_UNKNOWN");

/** The driver says neither which file it is about nor what to do. */
function ofDatabase(error: unknown): unknown {
  const { code, path = "the database" } = Object(error) as { code?: unknown; path?: string };
  return String(code).startsWith("SQLITE_") ? dataErrorOf(error, path, DAMAGED) : error;
}

/** Codes of the runtime and of the database that only a mistake in the program brings about. */
const FAULT = /^(ERR_|SQLITE_(ERROR|MISUSE|CONSTRAINT|MISMATCH|RANGE|SCHEMA)|SQLITE_INTERNAL)/;

/** The code of an error that the program foresees. */
function expectedCode(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  if (typeof code !== "string" && typeof code !== "number") return undefined;
  return FAULT.test(String(code)) ? undefined : String(code);
}
