/** Completion, as the shells perform it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { placesOf, scripts } from "../../src/commands/completion.ts";
import { createProgram } from "../../src/commands/program.ts";
import { skips } from "../../test-support/process/available.ts";
import { completionsOf, missingShell, type Shell } from "../../test-support/process/shell.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-shells-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const places = placesOf(await createProgram());
const shells: readonly Shell[] = ["bash", "zsh", "fish"];

describe.each(shells)("%s", (shell) => {
  const isMissing = skips(missingShell(shell));
  const complete = (line: string) => [...completionsOf(shell, scripts[shell](places), line)].sort();

  test.skipIf(isMissing).each([
    ["commands", "uniknode web", ["webhooks"]],
    ["subcommands", "uniknode webhooks re", ["replay", "resume", "retry"]],
    [
      "options after arguments and values",
      "uniknode webhooks create http://a/ --match all --ev",
      ["--event"],
    ],
    ["the values of an enumerated option", "uniknode webhooks deliveries 1 --state p", ["pending"]],
    ["the values of an enumerated argument", "uniknode completion ", [...shells].sort()],
    ["events", "uniknode webhooks create http://a/ --event unik.m", ["unik.minted"]],
    ["events of listen", "uniknode listen --event block.r", ["block.received", "block.reverted"]],
    ["the event to trigger", "uniknode trigger wallet.v", ["wallet.vote"]],
    ["networks", "uniknode run --network ", ["dalinet", "livenet", "sandbox"]],
    ["networks of wallets", "uniknode wallet new --network liv", ["livenet"]],
    ["other options with few values", "uniknode dev --log-format ", ["auto", "json", "text"]],
  ])("completes %s", (_what, line, expected) => {
    const found = complete(line).filter((word) => word !== "--help");
    expect(found).toEqual(expected);
  });

  test.skipIf(isMissing)("The shell completes the webhooks of the node that the line names.", () => {
    const bin = join(folder, shell);
    mkdirSync(bin);
    // Replaces the program: offers its own arguments as words to complete.
    writeFileSync(join(bin, "uniknode"), '#!/bin/sh\necho "7 8" | tr " " "\\n"\necho "$@" > "$0.called"\n', {
      mode: 0o755,
    });
    const ids = (line: string) =>
      [...completionsOf(shell, scripts[shell](places), line, bin)]
        .filter((word) => /^\d+$/.test(word))
        .sort();
    expect(ids("uniknode webhooks show --url http://127.0.0.1:5 ")).toEqual(["7", "8"]);
    expect(readFileSync(join(bin, "uniknode.called"), "utf8")).toBe(
      "complete webhooks -- webhooks show --url http://127.0.0.1:5\n",
    );
    expect(ids("uniknode webhooks deliveries 7")).toEqual(["7"]);
    // The second argument is a delivery, not a webhook.
    expect(ids("uniknode webhooks retry 7 ")).toEqual([]);
  });

  test.skipIf(isMissing)("The shell completes files after an option with a value, not commands.", () => {
    const found = complete("uniknode dev --data ");
    // bash completes the files itself if it receives no words.
    expect(found).toEqual(shell === "bash" ? [] : expect.arrayContaining(["file"]));
    expect(found).not.toContain("--http-port");
  });

  test.skipIf(isMissing)("The shell offers no file if only its own words are possible.", () => {
    expect(complete("uniknode ")).toContain("webhooks");
    expect(complete("uniknode ")).not.toContain("file");
  });
});

test("The script for fish requires a value for the options that have one, and for no others.", () => {
  const script = scripts.fish(places);
  expect(script).toMatch(/ -l url -r -d /);
  expect(script).toMatch(/ -l json -d /);
});
