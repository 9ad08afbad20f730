/** Loads the NATS client with the first delivery to a NATS server; the only file that names its packages. */
import { createRequire } from "node:module";

export type { MsgRequest, PubAck, StoredMsg } from "@nats-io/jetstream";
export type { ConnectionOptions, NatsConnection, ParserEvent, Transport } from "@nats-io/nats-core/internal";

type NatsLibrary = typeof import("@nats-io/nats-core/internal") &
  Pick<typeof import("@nats-io/jetstream"), "jetstream" | "jetstreamManager">;

const load = createRequire(import.meta.url);
let library: NatsLibrary | undefined;

export function natsLibrary(): NatsLibrary {
  library ??= { ...load("@nats-io/nats-core/internal"), ...load("@nats-io/jetstream") } as NatsLibrary;
  return library;
}
