import { ApiError } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { describeFailure } from "../../src/commands/main.ts";
import { ConfigError } from "../../src/platform/coded-error.ts";

const coded = (code: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });

describe("An expected failure is one line with the next step.", () => {
  test.each<[error: unknown, text: string, exitCode: number]>([
    [new ConfigError("--x: a non-empty string is expected"), "--x: a non-empty string is expected", 2],
    [
      new ApiError({ code: "API_TIMEOUT", timeoutMs: 5 }, "GET /api/x"),
      "GET /api/x: no response within 5 ms; the node is busy or stopped; check its /health/ready, or increase --timeout",
      1,
    ],
    [
      new ApiError(
        { code: "API_UNREACHABLE", cause: new Error("connect ECONNREFUSED 127.0.0.1:4003") },
        "GET /api/x",
      ),
      'GET /api/x: no response: connect ECONNREFUSED 127.0.0.1:4003; is the node running? Start a dev chain with "uniknode dev", or give another node with --url',
      1,
    ],
    [
      coded("SQLITE_CORRUPT", "malformed"),
      'the database is damaged (malformed): start a dev chain over with "uniknode dev --reset"; for any other node restore a snapshot into an empty folder with "uniknode snapshot restore"',
      1,
    ],
    [
      // The error of a statement does not name the file, and the working directory can be on another disk.
      coded("SQLITE_FULL", "database or disk is full"),
      "disk full; free some space, or choose another disk with --data",
      1,
    ],
    [
      // A damaged row claims a value of more than a gigabyte.
      coded("SQLITE_TOOBIG", "string or blob too big"),
      'the database is damaged (string or blob too big): start a dev chain over with "uniknode dev --reset"; for any other node restore a snapshot into an empty folder with "uniknode snapshot restore"',
      1,
    ],
    [
      coded("EEXIST", "EEXIST: file already exists, open 'x'"),
      "EEXIST: file already exists, open 'x'; choose another name, or remove the existing file first",
      1,
    ],
    [
      new ApiError(
        {
          code: "API_UNAUTHORIZED",
          status: 401,
          nodeCode: "TOKEN_WRONG",
          body: { message: "a wrong token" },
        },
        "POST /api/webhooks",
      ),
      "POST /api/webhooks: a wrong token (HTTP 401); give the token with --token",
      1,
    ],
    [
      new ApiError({ code: "API_UNAUTHORIZED", status: 401, body: {} }, "GET /api/webhooks"),
      'GET /api/webhooks: HTTP 401; give the webhook token with --token; "uniknode token" prints it on the machine of the node',
      1,
    ],
    [coded("ARCHIVE_MISSING", "x has no chain"), "x has no chain", 1],
    // systemd must not restart the node.
    [coded("CHAIN_NETWORK_MISMATCH", "x holds another chain"), "x holds another chain", 2],
    [coded("CHAIN_UNCHECKED", "blocks from 2 on"), "blocks from 2 on", 2],
  ])("%s", (error, text, exitCode) => {
    expect(describeFailure(error, false)).toEqual({ text: `uniknode: ${text}\n`, exitCode });
  });

  test("Texts of others in a failure cannot forge lines or control the terminal, and their length is bounded.", () => {
    const { text } = describeFailure(
      coded("ARCHIVE_FOREIGN", `of a\nuniknode: fine\u202e\u009b${"x".repeat(60_000)}`),
      false,
    );
    expect(text).toMatch(
      /^uniknode: of a\\u000auniknode: fine\\u202e\\u009bx+ \.\.\. \d+ characters \.\.\. x+\n$/,
    );
    expect(text.length).toBeLessThan(5_000);
  });

  test("A failure includes stack traces on request.", () => {
    expect(describeFailure(new ConfigError("no"), true).text).toMatch(
      /^uniknode: no\nConfigError: no\n +at /,
    );
  });
});

test.each<[error: unknown]>([
  [new TypeError("x is undefined")],
  [coded("ERR_INVALID_ARG_TYPE", "not a text")],
  [coded("SQLITE_CONSTRAINT_UNIQUE", "not unique")],
])("A bug in uniknode shows its stack and where to report it: %s", (error) => {
  const { text, exitCode } = describeFailure(error, false);
  expect(text).toMatch(/^uniknode: \w+: .*\n +at .*failure\.test\.ts/);
  expect(text).toMatch(
    /\nThis is a bug in uniknode\. Please report it.*: CONTRIBUTING\.md, "Report a bug"\.\n$/,
  );
  expect(exitCode).toBe(1);
});

test("A thrown value that is not an error is shown as well.", () => {
  expect(describeFailure("out of the blue", false).text).toMatch(/^uniknode: Error: out of the blue\n/);
});
