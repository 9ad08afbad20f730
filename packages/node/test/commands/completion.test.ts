/** Completion, as the shells themselves do it. */
import { describe, expect, test } from "vitest";
import { scripts } from "../../src/commands/completion/scripts.ts";
import { placesOf } from "../../src/commands/completion/words.ts";
import { createProgram } from "../../src/commands/program.ts";
import { completionsOf, hasShell, type Shell } from "../../test-support/process/shell.ts";

const places = placesOf(await createProgram());
const shells: readonly Shell[] = ["bash", "zsh", "fish"];

describe.each(shells)("%s", (shell) => {
  const isMissing = !hasShell(shell);
  const complete = (line: string) => [...completionsOf(shell, scripts[shell](places), line)].sort();

  test.skipIf(isMissing).each([
    ["commands", "uniknode web", ["webhooks"]],
    ["subcommands", "uniknode webhooks re", ["replay", "resume", "retry"]],
    [
      "options behind arguments and values",
      "uniknode webhooks create http://a/ --match all --ev",
      ["--event"],
    ],
    ["the values of an option that has few", "uniknode webhooks deliveries 1 --state p", ["pending"]],
    ["the values of an argument that has few", "uniknode completion ", [...shells].sort()],
  ])("completes %s", (_what, line, expected) => {
    const found = complete(line).filter((word) => word !== "--help");
    expect(found).toEqual(expected);
  });

  test.skipIf(isMissing)("completes no command after an option with a value, but files", () => {
    const found = complete("uniknode dev --data ");
    // bash completes the files itself when it is given no words.
    expect(found).toEqual(shell === "bash" ? [] : expect.arrayContaining(["file"]));
    expect(found).not.toContain("--http-port");
  });

  test.skipIf(isMissing)("offers no file where only its own words are possible", () => {
    expect(complete("uniknode ")).toContain("webhooks");
    expect(complete("uniknode ")).not.toContain("file");
  });
});
