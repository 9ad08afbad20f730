/** Parts of the page that are loaded on demand, also after an outage of the node. */
import type { ComponentType } from "preact";
import lazy from "preact-iso/lazy";

export type Load<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

/** Placeholder until the file of a part is loaded: a page, a sentence, or nothing. */
export type Waiting = "screen" | "part" | "nothing";

export const loadable = <Props extends object>(
  load: Load<Props>,
  waiting: Waiting = "screen",
): ComponentType<Props> =>
  lazy(() =>
    // The notices have loaded this file, so it is available without the node.
    load().catch(async () => ({ default: (await import("./retried.tsx")).retried(load, waiting) })),
  ) as ComponentType<Props>;
