/** A replay in PostgreSQL waits while the blocks of the mirror may be older than a retraction, or newer than the events. */
import { beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { connect, hasPostgres } from "../../../test-support/postgres/server.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";
import { openPostgresSubject } from "../queue-port/postgres-subject.ts";
import { apply, enqueue, NOW_MS, type Subject } from "../queue-port/subject.ts";

const databases = useDatabases();
const BLOCK = { height: 1, blockId: "block" };

let subject: Subject;
let webhook: number;
let run: (sql: string) => Promise<void>;

beforeEach(async () => {
  if (!hasPostgres) return;
  const url = await databases.create();
  run = async (sql) => {
    const postgres = connect(url);
    await postgres.query(sql);
    await postgres.close();
  };
  subject = await openPostgresSubject(url, WAIT_MS);
  await run(
    `INSERT INTO head (nethash, height, id, transactions, phase, epoch, owner, lease_until)
     VALUES ('network', 1, 'block', 0, 'ready', 1, '', now())`,
  );
  webhook = await subject.addWebhook();
  await subject.append([
    { id: "applied", name: "block.applied", ...BLOCK },
    { id: "reverted", name: "block.reverted", reverts: "applied", ...BLOCK },
    { id: "later", name: "block.applied", height: 2, blockId: "other" },
  ]);
  const matched = present((await subject.intake.nextEvents(9)).at(-1)).sequence;
  await apply(subject, [], { reader: "log", matched });
});

async function replay() {
  const { replays } = subject.queue;
  await replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS);
  return apply(subject, [enqueue(webhook, "id")], {
    reader: "replay",
    replay: present(await replays.find(webhook)),
    next: { nextHeight: 2, nextIndex: 0 },
  });
}

describe.skipIf(!hasPostgres)("a replay, after a retraction was matched", () => {
  test.each([0, 1])(
    "A replay after a matched retraction waits while the blocks are those of event %i.",
    async (position) => {
      await run(`UPDATE head SET log_sequence = ${position}`);
      expect(await subject.intake.canReplay()).toBe(false);
      expect(await replay()).toEqual({ isCurrent: false, webhooks: [] });
    },
  );

  test.each([2, 3])(
    "A replay after a matched retraction continues when the blocks are those of event %i.",
    async (position) => {
      await run(`UPDATE head SET log_sequence = ${position}`);
      expect(await subject.intake.canReplay()).toBe(true);
      expect(await replay()).toEqual({ isCurrent: true, webhooks: [webhook] });
    },
  );

  test("A replay after a matched retraction waits while the events of newer blocks are not copied, or not matched.", async () => {
    await run("UPDATE head SET log_sequence = 4");
    expect(await subject.intake.canReplay()).toBe(false);
    await subject.append([{ id: "new", name: "block.applied", height: 3, blockId: "third" }]);
    expect(await subject.intake.canReplay()).toBe(false);
    expect(await replay()).toEqual({ isCurrent: false, webhooks: [] });
    await apply(subject, [], { reader: "log", matched: 4 });
    expect(await subject.intake.canReplay()).toBe(true);
  });
});
