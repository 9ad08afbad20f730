/** Asking a time server how late it is: one datagram each way (SNTP, RFC 4330). */
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";

export type TimeServer = {
  /** IP address. */
  readonly address: string;
  readonly port: number;
};

export type TimeQuery = {
  /** Milliseconds since 1970, as this machine has it. */
  readonly nowMs: () => number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
};

const MESSAGE_BYTES = 48;
/** No warning of leap seconds, version 4, mode of a client. */
const CLIENT_HEAD = 0x23;
const SERVER_MODE = 4;
/** A server of a higher one is not synchronised itself; 0 is a refusal. */
const MAX_STRATUM = 15;
/** Where each moment stands in a message. */
const AT = { originate: 24, receive: 32, transmit: 40 } as const;

/**
 * Milliseconds that the server's clock is ahead of ours, the way there and back taken as equally long.
 *
 * @throws {Error} when no usable answer comes before the signal
 */
export function askTime({ address, port }: TimeServer, { nowMs, signal }: TimeQuery): Promise<number> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  // What is sent as our moment only has to come back: nobody learns our clock, and nobody else can answer.
  const cookie = randomBytes(8);
  const question = Buffer.alloc(MESSAGE_BYTES);
  question[0] = CLIENT_HEAD;
  cookie.copy(question, AT.transmit);

  return new Promise<number>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("it did not answer in time")), { once: true });
    socket.on("error", reject);
    let askedMs = 0;
    socket.on("message", (answer) => {
      const arrivedMs = nowMs();
      if (!isAnswer(answer, cookie)) return;
      const [receivedMs, sentMs] = [unixMs(answer, AT.receive), unixMs(answer, AT.transmit)];
      resolve((receivedMs - askedMs + (sentMs - arrivedMs)) / 2);
    });
    // Answers of others than the one that was asked are dropped by the system.
    socket.connect(port, address, () => {
      askedMs = nowMs();
      socket.send(question);
    });
  }).finally(() => socket.close());
}

function isAnswer(message: Buffer, cookie: Buffer): boolean {
  if (message.length < MESSAGE_BYTES) return false;
  const [head, stratum] = message as unknown as [number, number];
  const isUsable = (head & 0x07) === SERVER_MODE && stratum > 0 && stratum <= MAX_STRATUM;
  return isUsable && message.subarray(AT.originate, AT.receive).equals(cookie);
}

/** From 1900 to 1970. */
const SECONDS_TO_1970 = 2_208_988_800;
const FRACTIONS = 2 ** 32;

/** A moment as seconds since 1900 and their fractions; small ones are those after the seconds have begun anew in 2036. */
function unixMs(message: Buffer, at: number): number {
  const told = message.readUInt32BE(at);
  const seconds = told < FRACTIONS / 2 ? told + FRACTIONS : told;
  return (seconds - SECONDS_TO_1970 + message.readUInt32BE(at + 4) / FRACTIONS) * 1000;
}
