/** Every command of the README and the guides, executed literally, from an empty folder. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { needsDatabase, startDatabase } from "../../test-support/guides/database.ts";
import { type Block, blocksOf, commandsOf, ROOT } from "../../test-support/guides/page.ts";
import { follow, START } from "../../test-support/guides/reader.ts";
import { openTerminal } from "../../test-support/guides/terminal.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const PAGES = [
  "README.md",
  ...["app-developers", "operators", "contributors"].map((name) => `docs/${name}.md`),
  ...readdirSync(`${ROOT}docs/guides`).map((name) => `docs/guides/${name}`),
];
const isRun = ({ language, notRun }: Block) => language === "sh" && notRun === undefined;

describe("every block", () => {
  test.each(PAGES)("of %s has a language", (page) => {
    for (const { language, text } of blocksOf(page)) {
      expect(language, text).toMatch(/^(sh|text|js|json|http|ini|nginx|yaml)$/);
    }
  });
});

/** Time for the programs of a page to end. */
const END_TIMEOUT_MS = 60_000;

describe("the commands", () => {
  const pages = PAGES.filter((page) => blocksOf(page).some(isRun));
  test.concurrent.for(pages)(
    "of %s have the described effects",
    { timeout: 300_000 },
    async (page, context) => {
      const terminal = await openTerminal();
      const blocks = blocksOf(page);
      const commands = blocks.filter(isRun).flatMap(commandsOf);
      if (needsDatabase(commands)) {
        context.skip(!hasPostgres, "no PostgreSQL for this machine");
        context.onTestFinished(await startDatabase(terminal), END_TIMEOUT_MS);
      }
      context.onTestFinished(terminal.close, END_TIMEOUT_MS);
      // A page that does not start a chain is read with one running.
      const [first] = commands;
      const beside: Block[] = first === START ? [] : [{ language: "sh", text: START }];
      expect((await follow([...beside, ...blocks], terminal)).length).toBeGreaterThan(1);
    },
  );
});
