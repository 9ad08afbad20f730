/** Cases of a kit by file. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./case.ts";
import { casesOf } from "./state.ts";

export type CaseFile = { readonly file: string; readonly cases: readonly Case[] };

export const caseFiles = (folder: string): CaseFile[] =>
  readdirSync(folder)
    .filter((name) => /^(cases-.*|state)\.json$/.test(name))
    .map((file) => {
      const content = JSON.parse(readFileSync(join(folder, file), "utf8"));
      const cases: Case[] = file === "state.json" ? casesOf(content) : content.cases;
      // The webhook service of the old network has another address and entirely different responses.
      return { file, cases: cases.filter(({ service }) => service === undefined) };
    })
    .filter(({ cases }) => cases.length > 0);
