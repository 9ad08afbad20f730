/** Parts of a feed that read and mark the event log of a database. */
import { EventReader } from "../../src/feed/event-reader.ts";
import type { FeedDeps } from "../../src/feed/feed.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { CopiedEvents } from "../../src/store/events/subscribed-events.ts";
import { OwnerStore } from "../../src/webhooks/sqlite/hand-over/owner.ts";

export const feedLogOf = (database: Database): Pick<FeedDeps, "events" | "copiedEvents" | "transfer"> => ({
  events: new EventReader(database),
  copiedEvents: new CopiedEvents(database),
  transfer: () => new OwnerStore(database).read().transfer,
});
