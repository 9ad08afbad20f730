/** Every command of the README and the guides, executed literally, from an empty folder. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { learnFromChain, readKeys } from "../../test-support/guides/chain-values.ts";
import { needsDatabase, startDatabase } from "../../test-support/guides/database.ts";
import { type Block, blocksOf, commandsOf, ROOT } from "../../test-support/guides/page.ts";
import { follow, START } from "../../test-support/guides/reader.ts";
import { openTerminal, startsNode } from "../../test-support/guides/terminal.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const PAGES = [
  "README.md",
  ...["app-developers", "operators", "contributors"].map((name) => `docs/${name}.md`),
  ...readdirSync(`${ROOT}docs/guides`).map((name) => `docs/guides/${name}`),
];
const isRun = ({ language, notRun }: Block) => language === "sh" && notRun === undefined;

describe("every block", () => {
  test.each(PAGES)("Every block of %s has a language.", (page) => {
    for (const { language, text } of blocksOf(page)) {
      expect(language, text).toMatch(/^(sh|text|js|json|http|ini|nginx|yaml)$/);
    }
  });
});

const commandsIn = (page: string) => blocksOf(page).filter(isRun).flatMap(commandsOf);
const pages = PAGES.filter((page) => blocksOf(page).some(isRun));
/** Pages that start a node; the others are read beside a running dev chain. */
const withNode = pages.filter((page) => commandsIn(page).some(startsNode));
const besideChain = pages.filter((page) => !withNode.includes(page));

describe("the commands", () => {
  test.concurrent.for(withNode)("The commands of %s have the described effects.", async (page, context) => {
    const terminal = await openTerminal();
    if (needsDatabase(commandsIn(page))) {
      context.skip(!hasPostgres, "no PostgreSQL for this machine");
      context.onTestFinished(await startDatabase(terminal));
    }
    context.onTestFinished(terminal.close);
    expect((await follow(blocksOf(page), terminal)).length).toBeGreaterThan(1);
  });

  test.concurrent(`The commands of ${besideChain.join(", ")} have the described effects.`, async ({
    onTestFinished,
  }) => {
    const terminal = await openTerminal();
    onTestFinished(terminal.close);
    await terminal.type(START);
    const keys = await readKeys(terminal);
    for (const page of besideChain) {
      // The page before may have learned that of a webhook.
      delete terminal.values.SECRET;
      await learnFromChain(terminal, keys);
      const typed = await follow(blocksOf(page), terminal).catch((error) => {
        throw new Error(`${page}: ${error.message}`, { cause: error });
      });
      expect(typed, page).not.toEqual([]);
    }
  });
});
