import { createClient, type DevChange } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { type Command, curlOf, outcomeOf, programOf, run } from "../../src/screens/dev/commands.ts";

const mine: Command = { name: "mine", body: { blocks: 2 } };
const reorg: Command = { name: "reorg", body: { depth: 1, blocks: 2 } };
const snapshot: Command = { name: "snapshot", body: {} };
const restore: Command = { name: "restore", body: { id: "ab" } };
const travel: Command = { name: "travel", body: { seconds: 60 } };
const forge: Command = { name: "forge", body: { enabled: false } };
const fail: Command = { name: "fail", body: { webhook: 1, how: "refuse", status: 503 } };
const COMMANDS: readonly (readonly [Command, string])[] = [
  [mine, 'mine({"blocks":2})'],
  [reorg, 'reorg({"depth":1,"blocks":2})'],
  [snapshot, "snapshot()"],
  [restore, 'restore("ab")'],
  [travel, 'travel({"seconds":60})'],
  [forge, 'forge({"enabled":false})'],
  [fail, 'fail(1, {"how":"refuse","status":503})'],
];

describe("The commands of a dev chain", () => {
  test.each(COMMANDS)(
    "%j is sent as its command specifies, and its program is %s.",
    async (command, program) => {
      const requests: unknown[] = [];
      const { dev } = createClient({
        url: "http://node",
        fetch: async (url, init) => {
          requests.push([`${url}`, JSON.parse(`${init?.body}`)]);
          return Response.json({ data: {} });
        },
      });
      await run(dev, command);
      expect(requests).toEqual([[`http://node/api/dev/${command.name}`, command.body]]);
      expect(programOf(command)).toBe(`await client.dev.${program};`);
      expect(curlOf(command, "http://node")).toContain(`-d '${JSON.stringify(command.body)}'`);
    },
  );

  const block = (height: number) => ({
    height,
    id: `${height}`,
    timestamp: { epoch: 0, unix: 0, human: "" },
  });
  const change = (reverted: number, applied: number): DevChange => ({
    head: block(9),
    reverted: Array.from({ length: reverted }, () => block(1)),
    applied: Array.from({ length: applied }, () => block(1)),
    now: { epoch: 0, unix: 0, human: "" },
    forging: false,
  });

  test.each([
    [mine, change(0, 1), "1 block applied. The head is at height 9."],
    [reorg, change(1, 2), "1 block reverted, 2 blocks applied. The head is at height 9."],
    [snapshot, change(0, 0), "Remembered height 9."],
    [restore, change(0, 0), "Nothing changed. The head is at height 9."],
    [forge, change(0, 0), "Blocks are forged only on request."],
    [fail, undefined, "The receiver of webhook 1 fails from now on."],
    [
      { name: "fail", body: { webhook: 1, how: "not" } } as const,
      undefined,
      "The receiver of webhook 1 receives deliveries again.",
    ],
  ])("The outcome of %j is a sentence.", (command, change, sentence) => {
    expect(outcomeOf(command, change)).toBe(sentence);
  });
});
