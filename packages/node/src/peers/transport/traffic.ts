/** Bytes between this node and others, counted at the sockets. */

/** The part of a socket that is needed. */
type Counted = {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  once(event: "close", listener: () => void): unknown;
};

export type TrafficFigures = { readonly receivedBytes: number; readonly sentBytes: number };

export class Traffic {
  readonly #open = new Set<Counted>();
  #ended: TrafficFigures = { receivedBytes: 0, sentBytes: 0 };

  /** Counts the bytes of a connection until it has ended, and keeps its total. */
  watch(socket: Counted): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#ended = sum(this.#ended, socket);
    });
  }

  /** Returns the totals since the process started. */
  read(): TrafficFigures {
    return [...this.#open].reduce(sum, this.#ended);
  }
}

const sum = (
  { receivedBytes, sentBytes }: TrafficFigures,
  { bytesRead, bytesWritten }: Counted,
): TrafficFigures => ({
  receivedBytes: receivedBytes + bytesRead,
  sentBytes: sentBytes + bytesWritten,
});
