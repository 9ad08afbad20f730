/** Parts of a session of the mirror that the copy of the event log uses. */
import type { Logger } from "pino";
import type { Postgres } from "../../postgres/connection.ts";
import type { FeedClient } from "../feed-client.ts";
import type { Epoch } from "../head.ts";
import type { HeightWatch } from "./height-watch.ts";
import type { CopyState } from "./rows.ts";

export type CopyDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "events" | "continueEvents">;
  readonly epoch: Epoch;
  /** Height of the mirror. */
  readonly heights: Pick<HeightWatch, "waitFor">;
  readonly signal: AbortSignal;
  /** Called with the last copied event when it changes. */
  readonly onCopied: (copy: Pick<CopyState, "sequence" | "gaps">) => void;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
};
