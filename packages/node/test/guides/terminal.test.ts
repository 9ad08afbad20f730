/** Commands of a page that fail: the error shows how they ended, and what they printed. */
import { expect, onTestFinished, test } from "vitest";
import { openTerminal } from "../../test-support/guides/terminal.ts";

async function failureOf(command: string): Promise<string> {
  const terminal = await openTerminal();
  onTestFinished(terminal.close);
  return terminal.type(command).then(
    () => "no failure",
    ({ message }: Error) => message,
  );
}

test("A command that fails is reported with its exit code and its output.", async () => {
  expect(await failureOf("echo printed; echo warned >&2; exit 3")).toBe(
    "echo printed; echo warned >&2; exit 3\n--- ended with code 3\nprinted\n\nwarned\n",
  );
});

test("A command that a signal ends is reported with the signal.", async () => {
  expect(await failureOf("echo printed; kill -TERM $$")).toMatch(/\n--- ended by SIGTERM, .*\nprinted\n/);
});

test("A service that ends before it is ready is reported with its exit code and its output.", async () => {
  const command = "curl -N --unknown-option";
  expect(await failureOf(command)).toMatch(/^curl .*\n--- ended with code 2 before it was ready\n.*unknown/s);
});
