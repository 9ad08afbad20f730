/** Sends texts in order, at most `events` in any `windowMs`; the others wait. */
import type { Window } from "../guards/window.ts";

export type Pacer = {
  send(text: string): void;
  /** Total length of the waiting texts. */
  waitingLength(): number;
  close(): void;
};

export function createPacer({ events, windowMs }: Window, transmit: (text: string) => void): Pacer {
  /** Times of the last sent texts, oldest first. */
  const sent: number[] = [];
  const waiting: string[] = [];
  let waitingLength = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    const now = performance.now();
    for (let [first] = sent; first !== undefined && now - first >= windowMs; [first] = sent) sent.shift();
    while (sent.length < events) {
      const text = waiting.shift();
      if (text === undefined) return;
      sent.push(now);
      waitingLength -= text.length;
      transmit(text);
    }
    const [first = now] = sent;
    if (waiting.length > 0) timer = setTimeout(flush, windowMs - (now - first));
  }

  return {
    send(text) {
      waiting.push(text);
      waitingLength += text.length;
      if (!timer) flush();
    },
    waitingLength: () => waitingLength,
    close() {
      clearTimeout(timer);
      waiting.length = 0;
      waitingLength = 0;
    },
  };
}
