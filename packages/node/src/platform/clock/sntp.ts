/** A query to a time server: one datagram each way (SNTP, RFC 4330). */
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";

export type TimeServer = {
  /** IP address. */
  readonly address: string;
  readonly port: number;
};

export type TimeQuery = {
  /** Clock of this machine, milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Ends the query. */
  readonly signal: AbortSignal;
};

const MESSAGE_BYTES = 48;
/** No leap second warning, version 4, client mode. */
const CLIENT_HEAD = 0x23;
const SERVER_MODE = 4;
/** Servers of a higher stratum are not synchronised; 0 is a refusal. */
const MAX_STRATUM = 15;
/** Offsets of the timestamps in a message. */
const AT = { originate: 24, receive: 32, transmit: 40 } as const;

/**
 * Settles with the offset in milliseconds: positive if the server's clock is ahead. Both directions are
 * assumed to be equally fast.
 *
 * @throws {Error} when no usable reply arrives before the signal
 */
export function queryOffset({ address, port }: TimeServer, { nowMs, signal }: TimeQuery): Promise<number> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  // The server echoes the transmit timestamp. A random one keeps our clock private and proves that the reply
  // is genuine.
  const cookie = randomBytes(8);
  const question = Buffer.alloc(MESSAGE_BYTES);
  question[0] = CLIENT_HEAD;
  cookie.copy(question, AT.transmit);

  return new Promise<number>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("timeout")), { once: true });
    socket.on("error", reject);
    let requestedMs = 0;
    socket.on("message", (reply) => {
      const arrivedMs = nowMs();
      if (!isReply(reply, cookie)) return;
      const [receivedMs, sentMs] = [unixMs(reply, AT.receive), unixMs(reply, AT.transmit)];
      resolve((receivedMs - requestedMs + (sentMs - arrivedMs)) / 2);
    });
    // The system drops datagrams of other senders than the connected one.
    socket.connect(port, address, () => {
      requestedMs = nowMs();
      socket.send(question);
    });
  }).finally(() => socket.close());
}

function isReply(message: Buffer, cookie: Buffer): boolean {
  if (message.length < MESSAGE_BYTES) return false;
  const [head, stratum] = message as unknown as [number, number];
  const isUsable = (head & 0x07) === SERVER_MODE && stratum > 0 && stratum <= MAX_STRATUM;
  return isUsable && message.subarray(AT.originate, AT.receive).equals(cookie);
}

/** Seconds from 1900 to 1970. */
const SECONDS_TO_1970 = 2_208_988_800;
const FRACTIONS = 2 ** 32;

/** Reads a timestamp: seconds since 1900 and a fraction. The seconds wrap around in 2036, so small values are later. */
function unixMs(message: Buffer, at: number): number {
  const counted = message.readUInt32BE(at);
  const seconds = counted < FRACTIONS / 2 ? counted + FRACTIONS : counted;
  return (seconds - SECONDS_TO_1970 + message.readUInt32BE(at + 4) / FRACTIONS) * 1000;
}
