/** The node's side of a hand-over in SQLite. */
import type { Database } from "../../../store/engine/database.ts";
import { COPY_READER } from "../../../store/events/copied-events.ts";
import type { EventLog } from "../../../store/events/event-log.ts";
import { createMetaStore } from "../../../store/node/meta.ts";
import { HandOverError } from "../../hand-over/error.ts";
import type { HandOverHead } from "../../hand-over/lines.ts";
import { nextOwner, type OwnerChange } from "../../hand-over/owner.ts";
import type { HandOverRows } from "../../hand-over/rows.ts";
import { READER } from "../../intake.ts";
import type { SecretCipher } from "../../secrets/encryption.ts";
import { createWebhookStore } from "../webhooks.ts";
import { createDropRows } from "./drop.ts";
import { readWebhookLines } from "./export.ts";
import { createWebhookImport } from "./import.ts";
import { createOwnerStore, type OwnerStore } from "./owner.ts";

export type HandOverRowsDeps = {
  /** The connection of the webhook service. */
  readonly database: Database;
  readonly databasePath: string;
  readonly eventLog: Pick<
    EventLog,
    "read" | "lastSequence" | "firstSequence" | "cursor" | "moveCursor" | "removeCursor"
  >;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  readonly isEncrypted: boolean;
};

export function createSqliteHandOverRows(deps: HandOverRowsDeps): HandOverRows {
  const { database, databasePath, eventLog, cipher, isEncrypted } = deps;
  const owners = createOwnerStore(database);
  const webhooks = createWebhookStore(database, cipher);
  const { step: drop, isEmpty } = createDropRows(database);
  const imported = createWebhookImport(database, cipher);
  return {
    isEncrypted,
    owner: owners.read,
    matched: () => eventLog.cursor(READER) ?? eventLog.lastSequence(),
    change: (change) => database.transaction(() => changeOwner(deps, owners, change)),
    complete: () => webhooks.activateWaiting(eventLog.lastSequence()),
    lines: () => readWebhookLines({ path: databasePath, cipher, isEncrypted }),
    ...{ drop, isEmpty },
    add: imported.add,
    finish(head, transfer) {
      database.transaction(() => {
        checkPosition(deps, head);
        owners.write(nextOwner(owners.read(), { from: "to node", to: "node", transfer }));
        imported.setLast(head.last);
        const meta = createMetaStore(database);
        meta.write("webhookEpoch", `${Math.max(head.epoch, Number(meta.read("webhookEpoch") ?? 0))}`);
        eventLog.moveCursor(READER, head.matched);
      });
    },
    hasEvent({ sequence, id }) {
      if (sequence > eventLog.lastSequence()) return false;
      const [event] = eventLog.read(sequence - 1, 1);
      return id === undefined || event?.sequence !== sequence || event.id === id;
    },
  };
}

function changeOwner({ eventLog }: HandOverRowsDeps, owners: OwnerStore, change: OwnerChange) {
  const current = owners.read();
  const owner = nextOwner(current, change);
  if (owner === current) return owner;
  owners.write(owner);
  if (owner.state === "workers") eventLog.removeCursor(READER);
  if (owner.state === "to node")
    eventLog.moveCursor(READER, eventLog.cursor(COPY_READER) ?? eventLog.lastSequence());
  return owner;
}

function checkPosition({ database, eventLog }: HandOverRowsDeps, { network, matched }: HandOverHead): void {
  if (network !== createMetaStore(database).read("nethash"))
    throw new HandOverError("OTHER_NODE", "the webhooks belong to another chain: name its node with --node");
  const last = eventLog.lastSequence();
  const first = eventLog.firstSequence() ?? last + 1;
  if (matched <= last && matched >= first - 1) return;
  throw new HandOverError(
    "EVENTS_MISSING",
    `the log of the node has the events ${first} to ${last}, and not all after ${matched}: check that the mirror of the database follows this node`,
  );
}
