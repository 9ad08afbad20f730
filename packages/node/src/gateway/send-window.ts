/**
 * Limits the calls in transit to another thread, and sends one call of each source in turn: the thread never has much
 * to read, and a source with many calls does not delay the others.
 */

export type WindowedCall = {
  readonly number: number;
  /** Source that caused the call. */
  readonly source: string;
  /** Characters in its parameters. */
  readonly length: number;
  readonly send: () => void;
};

export type SendWindow = {
  /** Sends a call, at once or in the turn of its source. */
  add(call: WindowedCall): void;
  /** Marks a call as ended, whether it was sent or not. Other numbers are ignored. */
  end(number: number): void;
};

/** @param maxLength maximum number of characters of all calls in transit; a single call may exceed it */
export function createSendWindow(maxLength: number): SendWindow {
  /** Waiting calls by source, in the order of the turns. */
  const waiting = new Map<string, WindowedCall[]>();
  /** Lengths of the calls in transit, by number. */
  const sent = new Map<number, number>();
  let sentLength = 0;

  function sendNext(): void {
    for (const [source, calls] of waiting) {
      const [call] = calls;
      if (!call || (sent.size > 0 && sentLength + call.length > maxLength)) return;
      calls.shift();
      // Moves the source to the end.
      waiting.delete(source);
      if (calls.length > 0) waiting.set(source, calls);
      sent.set(call.number, call.length);
      sentLength += call.length;
      call.send();
    }
  }

  function drop(number: number): void {
    for (const [source, calls] of waiting) {
      const kept = calls.filter((call) => call.number !== number);
      if (kept.length === calls.length) continue;
      if (kept.length > 0) waiting.set(source, kept);
      else waiting.delete(source);
      return;
    }
  }

  return {
    add(call) {
      const calls = waiting.get(call.source);
      if (calls) calls.push(call);
      else waiting.set(call.source, [call]);
      sendNext();
    },
    end(number) {
      const length = sent.get(number);
      if (length === undefined) return drop(number);
      sent.delete(number);
      sentLength -= length;
      sendNext();
    },
  };
}
