/** Describes this API server to its nodes, which show it to their operator. */
import { hostname } from "node:os";
import { HEIGHT_HEADER, NAME_HEADER } from "../../gateway/remote-processes.ts";
import type { Head } from "../../read/head.ts";
import type { ReadModel } from "../../read/port.ts";

const EVERY_MS = 3_000;
const MAX_HOST_LENGTH = 50;

export type Announcement = {
  /** Returns the headers of a call to a node. */
  headers(): Readonly<Record<string, string>>;
  /**
   * Calls a node regularly, so that the node knows the height even while no client sends requests.
   *
   * @returns function that ends the calls
   */
  begin(call: () => Promise<unknown>): () => void;
};

/** @param port port of the server, once it listens */
export function createAnnouncement(
  readModel: Pick<ReadModel, "head">,
  port: () => number | undefined,
): Announcement {
  let head: Head | undefined;
  const host = hostname()
    .replace(/[^\w.-]/g, "-")
    .slice(0, MAX_HOST_LENGTH);

  async function announce(call: () => Promise<unknown>): Promise<void> {
    head = await readModel.head();
    await call();
  }
  return {
    headers: () => ({
      [NAME_HEADER]: `${host}:${port() ?? 0}`,
      ...(head && { [HEIGHT_HEADER]: `${head.height}` }),
    }),
    begin(call) {
      // If the database or every node is down, the log has the reason.
      const run = () => void announce(call).catch(() => {});
      run();
      const timer = setInterval(run, EVERY_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
