/** The connection to one client; buffers at most one event more than the buffer of the connection. */
import type { Writable } from "node:stream";

export class Sink {
  /** Number of times that the client has read all of a full buffer. */
  reads = 0;
  readonly #response: Writable;
  #isOpen: boolean;
  #taken = Promise.withResolvers<void>();

  /** @param onClosed called when the connection is closed */
  constructor(response: Writable, onClosed: () => void) {
    this.#response = response;
    this.#isOpen = !response.destroyed;
    response.on("drain", () => {
      this.reads++;
      this.#proceed();
    });
    response.on("close", () => {
      this.#isOpen = false;
      this.#proceed();
      onClosed();
    });
    // A reset connection also emits `close`.
    response.on("error", () => {});
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  /** Returns true if the client has not yet read what was written. */
  isFull(): boolean {
    return this.#isOpen && this.#response.writableNeedDrain;
  }

  /** Returns the number of written bytes that are still in this process. */
  unreadBytes(): number {
    return this.#isOpen ? this.#response.writableLength : 0;
  }

  write(text: string): void {
    if (this.#isOpen) this.#response.write(text);
  }

  /** Resolves when the client has read what was written, or has disconnected. */
  async ready(): Promise<void> {
    if (this.isFull()) await this.#taken.promise;
  }

  /** Waits like `ready`, for at most `timeoutMs`; resolves to true if the client was ready in time. */
  async readyWithin(timeoutMs: number): Promise<boolean> {
    if (!this.isFull()) return true;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, timeoutMs);
    await Promise.race([this.#taken.promise, late.promise]);
    clearTimeout(timer);
    return !this.isFull();
  }

  /** Ends the connection after sending what was written. */
  end(): void {
    this.#isOpen = false;
    this.#response.end();
  }

  /** Drops the connection with all unsent data. */
  cut(): void {
    this.#isOpen = false;
    this.#response.destroy();
  }

  #proceed(): void {
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
  }
}
