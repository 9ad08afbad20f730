/** Parts that were started, closed in reverse. */

export type Closing = {
  /** Remembers how to close a part that has just been started. */
  add(name: string, close: () => void | Promise<void>): void;
  /** Closes everything, last first; a part that fails to close does not keep the others open. */
  closeAll(onError: (name: string, error: unknown) => void): Promise<void>;
};

export function createClosing(): Closing {
  const parts: { name: string; close: () => void | Promise<void> }[] = [];
  return {
    add: (name, close) => void parts.push({ name, close }),
    async closeAll(onError) {
      for (let part = parts.pop(); part; part = parts.pop()) {
        try {
          await part.close();
        } catch (error) {
          onError(part.name, error);
        }
      }
    },
  };
}
