/** Union of the events that the open streams subscribe to. */
import { present } from "../platform/present.ts";

export type OpenSubscriptions = {
  /** Resolves to the sequence after which the log has every event of these names. */
  add(names: readonly string[]): Promise<number>;
  /** Reverses one `add`. */
  remove(names: readonly string[]): void;
};

/** See `Gateway.streamsChanged`. */
export type StreamsChanged = (names: string[]) => Promise<Record<string, number>>;

export function createOpenSubscriptions(streamsChanged: StreamsChanged): OpenSubscriptions {
  /** Number of streams by name. */
  const counts = new Map<string, number>();

  return {
    async add(names) {
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
      // Called each time, because the sequence changes after a gap in the log.
      const since = await streamsChanged([...counts.keys()]);
      return Math.max(...names.map((name) => present(since[name], `the sequence of ${name}`)));
    },
    remove(names) {
      for (const name of names) {
        const left = (counts.get(name) ?? 0) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      }
      // A lost call is harmless: the next call sends all names again.
      streamsChanged([...counts.keys()]).catch(() => {});
    },
  };
}
