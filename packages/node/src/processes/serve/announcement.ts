/** Describes this process to nodes, which show it to their operator. */
import { hostname } from "node:os";
import { HEIGHT_HEADER, KIND_HEADER, NAME_HEADER } from "../../gateway/remote-processes.ts";

const EVERY_MS = 3_000;
const MAX_NAME_LENGTH = 64;
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

export type Announced = {
  readonly kind: "server" | "worker";
  readonly name: () => string;
  /** Returns the head of the database. */
  readonly head: () => Promise<{ readonly height: number } | undefined>;
};

export function createAnnouncement({ kind, name, head: readHead }: Announced): Announcement {
  let height: number | undefined;
  async function announce(call: () => Promise<unknown>): Promise<void> {
    height = (await readHead())?.height;
    await call();
  }
  return {
    headers: () => ({
      [KIND_HEADER]: kind,
      [NAME_HEADER]: toName(name(), MAX_NAME_LENGTH),
      ...(height !== undefined && { [HEIGHT_HEADER]: `${height}` }),
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

/** Name of an API server. */
export const serverName = (port: number | undefined): string =>
  `${toName(hostname(), MAX_HOST_LENGTH)}:${port ?? 0}`;

/** Replaces characters that a name must not have. */
const toName = (text: string, maxLength: number): string =>
  text.replace(/[^\w.:-]/g, "-").slice(0, maxLength);
