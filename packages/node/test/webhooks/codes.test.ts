import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { STREAM_STATUS } from "../../src/http/stream/routes.ts";
import { WEBHOOK_STATUS } from "../../src/http/webhooks/answers.ts";

const GUIDES = join(import.meta.dirname, "../../../../docs/guides");

/** Statuses by code, of every row that names a code, why, and whether to try again. */
function statusesIn(guide: string): Record<string, number> {
  const text = readFileSync(join(GUIDES, guide), "utf8");
  const rows = text.matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \| [^|]{10,} \| [^|]{2,} \|$/gm);
  return Object.fromEntries([...rows].map(([, status, code]) => [code!, Number(status)]));
}

test.each([
  ["webhooks.md", WEBHOOK_STATUS],
  ["live-stream.md", STREAM_STATUS],
])("%s names every code with its status, and no other", (guide, statuses) => {
  expect(statusesIn(guide)).toEqual(statuses);
});
