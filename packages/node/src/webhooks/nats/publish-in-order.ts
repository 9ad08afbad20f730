/**
 * Publishes the deliveries of webhooks in strict order, each exactly once (webhooks.md 7.4). The server refuses a message
 * unless the last message of its subject is the expected one, so that it cannot store a late copy. A delivery whose
 * acknowledgement was lost is found in the stream, after any time and after a restart.
 */

import { Lru } from "../../platform/bounded-entries.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { isWrongSequence } from "./failure.ts";
import type { Acknowledgement, StoredMessage, StreamClient, StreamMessage } from "./stream-client.ts";

/** Position of a webhook in its subject. */
type Position = {
  /** Sequence of the last message of the subject; undefined after the start. */
  sequence: number | undefined;
  /** Id of the delivery whose publication has no known outcome. */
  pending: string | undefined;
};

type OrderedMessage = StreamMessage & {
  /** Identifies the webhook and its target. */
  readonly lane: string;
};

/** Maximum of positions in memory; a position that was dropped is read from the stream. */
const MAX_POSITIONS = 10_000;
/** Maximum messages of other publishers to search in one attempt; the next attempt continues. */
const MAX_SEARCHED = 100;

export class OrderedPublisher {
  readonly #positions = new Lru<string, Position>(MAX_POSITIONS);

  /**
   * Resolves after the message is stored. At most one message of a lane must be published at a time.
   *
   * @param signal after it has aborted, no message is published, and late replies have no effect
   */
  async publish(
    client: StreamClient,
    message: OrderedMessage,
    signal: AbortSignal,
  ): Promise<Acknowledgement> {
    const { id, subject, lane } = message;
    const position = this.#positions.get(lane, () => ({ sequence: undefined, pending: undefined }));
    const isRepeated = position.pending === id;
    let isKnown = position.sequence !== undefined && position.pending === undefined;
    for (let isLast = false; ; isLast = true) {
      const stored = isKnown
        ? undefined
        : await locate(createLookup(client, subject, signal), position, id, isRepeated);
      if (stored) return acknowledge(position, { ...stored, isDuplicate: true });
      position.pending = id;
      try {
        return acknowledge(position, await inTime(client.publish(message, position.sequence), signal));
      } catch (error) {
        signal.throwIfAborted();
        if (isLast || !isWrongSequence(error)) throw error;
        // Another publisher uses the subject: one further attempt after its message.
        isKnown = false;
      }
    }
  }
}

/**
 * Trap: a reply that arrives after the attempt has failed must not move the position. The next attempt would take the message of this
 * one for that of another delivery, and publish it again.
 */
async function inTime<T>(reply: Promise<T>, signal: AbortSignal): Promise<T> {
  const received = await reply;
  signal.throwIfAborted();
  return received;
}

/** Reads the messages of a subject until the attempt ends. */
type Lookup = ReturnType<typeof createLookup>;

const createLookup = (client: StreamClient, subject: string, signal: AbortSignal) => ({
  last: () => inTime(client.last(subject), signal),
  next: (stream: string, sequence: number) => inTime(client.next(stream, subject, sequence), signal),
});

function acknowledge(
  position: Position,
  { stream, sequence, isDuplicate }: Acknowledgement,
): Acknowledgement {
  // The earlier copy of a duplicate is not always the last message.
  position.sequence = Math.max(position.sequence ?? 0, sequence);
  position.pending = undefined;
  return { stream, sequence, isDuplicate };
}

/**
 * Returns the message if it is in the stream, and moves the position to the last message of the subject. A repeated message is
 * searched after the position, others are compared with the last message.
 */
async function locate(
  lookup: Lookup,
  position: Position,
  id: string,
  isRepeated: boolean,
): Promise<StoredMessage | undefined> {
  const last = await lookup.last();
  if (last?.id === id) return last;
  const end = last?.sequence ?? 0;
  if (last && isRepeated && position.sequence !== undefined) {
    for (let searched = 0; position.sequence + 1 < end; searched++) {
      if (searched === MAX_SEARCHED)
        throw new CodedError("NATS_SHARED_SUBJECT", SHARED_SUBJECT, { isRetryable: true });
      const message = await lookup.next(last.stream, position.sequence + 1);
      if (message?.id === id) return message;
      if (message === undefined) break;
      position.sequence = message.sequence;
    }
  }
  position.sequence = end;
  return undefined;
}

const SHARED_SUBJECT = `searched ${MAX_SEARCHED} messages of other publishers for the delivery, and continues with the next attempt: use a separate subject`;
