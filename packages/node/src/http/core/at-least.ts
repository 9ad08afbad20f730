/**
 * Read your writes on API servers (docs/guides/scale-out.md). A client sends the block of its last response; a server reads from
 * that block or a later one of the same branch, or refuses.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Head, ReadModel, Snapshot } from "../../read/port.ts";
import type { Server } from "./app.ts";
import { HttpError } from "./error.ts";

/** `HEIGHT:ID` of the oldest block whose state the client accepts. */
const AT_LEAST_HEADER = "x-uniknode-at-least";
export const HEIGHT_HEADER = "x-uniknode-height";
const BLOCK_HEADER = "x-uniknode-block";

/** Time that a request waits for a server that is behind. */
const WAIT_TIMEOUT_MS = 2_000;
const POLL_MS = 25;

type BlockPosition = Pick<Head, "height" | "id">;

declare module "fastify" {
  interface FastifyRequest {
    /** Oldest block whose state the client accepts; null if it accepts any. */
    atLeast: BlockPosition | null;
  }
}

/** Adds the headers of an API server. Without it, requests accept any block, as on a node. */
export function addAtLeast(app: Server): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const header = request.headers[AT_LEAST_HEADER];
    if (header === undefined) return done();
    const position = parsePosition(String(header));
    if (!position) return done(invalidPosition());
    request.atLeast = position;
    done();
  });
  app.addHook("onSend", ({ head }, reply, payload, done) => {
    if (head) reply.header(HEIGHT_HEADER, head.height).header(BLOCK_HEADER, head.id);
    done(null, payload);
  });
}

function parsePosition(text: string): BlockPosition | undefined {
  const [, height, id] = /^([1-9]\d{0,9}):([0-9a-f]{64}|[1-9]\d{0,19})$/.exec(text) ?? [];
  return height === undefined || id === undefined ? undefined : { height: Number(height), id };
}

const invalidPosition = () =>
  new HttpError(
    "POSITION_INVALID",
    "X-Uniknode-At-Least must be HEIGHT:ID, the height and the id of a block",
  );

/**
 * Runs `work` with a snapshot that has the position.
 *
 * @throws {HttpError} REPLICA_BEHIND if no snapshot has the block in time, BRANCH_GONE if another block has its height
 */
export async function snapshotAtLeast<T>(
  readModel: Pick<ReadModel, "head" | "snapshot">,
  position: BlockPosition,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const endMs = performance.now() + WAIT_TIMEOUT_MS;
  for (;;) {
    // The cached head is read first: a demand for a block that does not exist yet costs the database no transactions.
    const isReached = ((await readModel.head())?.height ?? 0) >= position.height;
    const result = isReached
      ? await readModel.snapshot(async (read) =>
          (await hasPosition(read, position)) ? { value: await work(read) } : undefined,
        )
      : undefined;
    if (result) return result.value;
    if (performance.now() > endMs) throw behind(position);
    await sleep(POLL_MS);
  }
}

/** Returns false if the snapshot is older than the position. */
async function hasPosition({ head, blocks }: Snapshot, { height, id }: BlockPosition): Promise<boolean> {
  if (head.height < height) return false;
  const found = head.height === height ? head : await blocks.byHeight(height);
  if (found?.id === id) return true;
  throw new HttpError(
    "BRANCH_GONE",
    `Block ${height} is no longer ${id}: reload your state, and send the request without X-Uniknode-At-Least`,
  );
}

const behind = ({ height }: BlockPosition) =>
  new HttpError(
    "REPLICA_BEHIND",
    `Service Unavailable: this server has not reached block ${height} yet; retry in 1 s`,
  );
