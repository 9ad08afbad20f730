/** Imports of registers at and beyond their limits, on a separate node that starts with one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../../../packages/node/src/platform/present.ts";
import { type Ended, runUniknode } from "../../../packages/node/test-support/process/uniknode.ts";
import type { Attack } from "../attack-definition.ts";
import { repeat } from "../requests.ts";
import { dataFolderOf, newFolder, startForging } from "../start-node.ts";
import type { SiegedNode } from "../target.ts";

/** Limits of a register with default options. */
const MAX_WEBHOOKS = 1_000;
const MAX_CONDITIONS_BYTES = 16 * 1_024 * 1_024;
const MAX_FILE_BYTES = 64 * 1_024 * 1_024;
/** Left for the honest receiver, which registers when the node runs. */
const ROOM_BYTES = 1_024;
/** Timeout of one refused import, including the start of the program. */
const MAX_REFUSAL_MS = 30_000;
const MAX_VALUE_LENGTH = 4_000;

/** Webhook of an old node with conditions that are never true. */
const webhook = (number: number, conditionsBytes: number) => ({
  id: `${number.toString(16).padStart(8, "0")}-aaaa-4bbb-8ccc-dddddddddddd`,
  token: "0123456789abcdef0123456789abcdef",
  event: "block.applied",
  target: `http://127.0.0.1:9/siege/${number}`,
  enabled: true,
  conditions: conditionsOf(conditionsBytes),
});

/** Conditions with exactly this number of bytes of JSON. */
function conditionsOf(bytes: number): object[] {
  const condition = (length: number) => ({ key: "id", condition: "eq", value: "x".repeat(length) });
  const emptyBytes = JSON.stringify(condition(0)).length + 1;
  const conditions: object[] = [];
  for (let left = bytes - 2; left > emptyBytes; ) {
    const length = Math.min(MAX_VALUE_LENGTH, left - emptyBytes);
    conditions.push(condition(length));
    left -= emptyBytes + length;
  }
  return conditions;
}

const register = (count: number, conditionsBytes: number, from = 0): string =>
  JSON.stringify({
    webhooks: Array.from({ length: count }, (_, index) =>
      webhook(from + index, Math.floor(conditionsBytes / count)),
    ),
  });

const filled = (unit: string): string => `[${unit.repeat(Math.floor((MAX_FILE_BYTES - 10) / unit.length))}`;

/** Register files, and the message of each refused one. */
const REFUSED: readonly (readonly [content: () => string, expected: RegExp])[] = [
  [() => register(MAX_WEBHOOKS + 1, 1_000_000), /more than 1000 webhooks/],
  [() => register(MAX_WEBHOOKS, MAX_CONDITIONS_BYTES + 1_000_000), /must not be larger than 16777216 bytes/],
  [() => `${filled("{},")}{}]`.padEnd(MAX_FILE_BYTES + 1), /larger than 67108864 bytes/],
  [() => `${filled("{},")}{}]`, /more than 1000000 values/],
  [() => `${filled("0,")}0]`, /more than 1000000 values/],
  [() => filled("["), /more than 4096 nested levels/],
  [() => filled("x"), /cannot be read/],
  [() => JSON.stringify({ webhooks: Array(MAX_WEBHOOKS).fill({}) }), /webhook 1000 of the file: "id" is/],
];

async function bring(file: string, data: string): Promise<Ended & { readonly ms: number }> {
  const startedMs = performance.now();
  const ended = await runUniknode(["webhooks", "import", file, "--data", data]);
  return { ...ended, ms: performance.now() - startedMs };
}

/** A node with the maximum of imported webhooks and conditions, minus the webhooks of the honest receiver. */
async function startFull(): Promise<SiegedNode> {
  const folder = newFolder();
  const file = join(folder, "webhooks.json");
  writeFileSync(file, register(MAX_WEBHOOKS - 1, MAX_CONDITIONS_BYTES - ROOM_BYTES));
  const { code, stderr } = await bring(file, dataFolderOf(folder));
  if (code !== 0) throw new Error(`a register at its bounds is not imported: ${stderr}`);
  return startForging({ folder });
}

export const registerImports: Attack = {
  name: "register imports",
  description:
    "a node with an imported register at its bounds, beside imports of larger ones, and into the folder of the running node",
  start: startFull,
  async run(target, tally, signal) {
    const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-imports-"));
    const data = join(folder, "data");
    mkdirSync(data);
    const fileOf = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const full = fileOf("full.json", register(MAX_WEBHOOKS, MAX_CONDITIONS_BYTES));
    const running = join(target.diskFolder, "data");
    const imports = [
      { file: full, into: running, expected: /in use/ },
      ...REFUSED.map(([content, expected], index) => ({
        file: fileOf(`${index}.json`, content()),
        into: data,
        expected,
      })),
    ];
    try {
      let count = 0;
      await repeat({ atOnce: 1 }, signal, async () => {
        const { file, into, expected } = present(imports[count++ % imports.length]);
        tally.offered();
        const { code, stderr, ms } = await bring(file, into);
        const said = stderr.slice(0, 300);
        if (code !== 1 && code !== 2) throw new Error(`an import ends with ${code}: ${said}`);
        if (!expected.test(stderr)) throw new Error(`an import is refused with "${said}", not ${expected}`);
        if (ms > MAX_REFUSAL_MS) throw new Error(`the refusal "${said}" took ${Math.round(ms)} ms`);
        tally.refused();
      });
      // It fits only if the refused files imported nothing.
      tally.offered();
      const { code, stderr } = await bring(full, data);
      if (code !== 0) throw new Error(`a register at its bounds is not imported: ${stderr.slice(0, 300)}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
