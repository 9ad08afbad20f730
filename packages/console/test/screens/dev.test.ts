import { createClient, type DevChange } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { type Command, curlOf, outcomeOf, programOf, run } from "../../src/screens/dev/commands.ts";

const COMMANDS: readonly (readonly [Command, string])[] = [
  [{ name: "mine", body: { blocks: 2 } }, 'mine({"blocks":2})'],
  [{ name: "reorg", body: { depth: 1, blocks: 2 } }, 'reorg({"depth":1,"blocks":2})'],
  [{ name: "snapshot", body: {} }, "snapshot()"],
  [{ name: "restore", body: { id: "ab" } }, 'restore("ab")'],
  [{ name: "travel", body: { seconds: 60 } }, 'travel({"seconds":60})'],
  [{ name: "forge", body: { enabled: false } }, 'forge({"enabled":false})'],
  [
    { name: "fail", body: { webhook: 1, how: "refuse", status: 503 } },
    'fail(1, {"how":"refuse","status":503})',
  ],
];

describe("The commands of a dev chain", () => {
  test.each(COMMANDS)("%j is sent as its command says, and its program is %s.", async (command, program) => {
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
  });

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
    [COMMANDS[0]![0], change(0, 1), "1 block applied. The head is at height 9."],
    [COMMANDS[1]![0], change(1, 2), "1 block reverted, 2 blocks applied. The head is at height 9."],
    [COMMANDS[2]![0], change(0, 0), "Remembered height 9."],
    [COMMANDS[3]![0], change(0, 0), "Nothing changed. The head is at height 9."],
    [COMMANDS[5]![0], change(0, 0), "Blocks are forged only on request."],
    [COMMANDS[6]![0], undefined, "The receiver of webhook 1 fails from now on."],
    [
      { name: "fail", body: { webhook: 1, how: "not" } } as const,
      undefined,
      "The receiver of webhook 1 receives deliveries again.",
    ],
  ])("The outcome of %j is a sentence.", (command, change, sentence) => {
    expect(outcomeOf(command, change)).toBe(sentence);
  });
});
