/** Parts of the page that are loaded when they are needed, also if the node does not answer at that time. */
import type { ComponentType } from "preact";
import lazy from "preact-iso/lazy";

export type Load<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

/** Placeholder until the file of a part can be loaded: a page of its own, a sentence, or nothing. */
export type Waiting = "screen" | "part" | "nothing";

export const loadable = <Props extends object>(
  load: Load<Props>,
  waiting: Waiting = "screen",
): ComponentType<Props> =>
  lazy(() =>
    // The notices have loaded it before: it is there without a node.
    load().catch(async () => ({ default: (await import("./retried.tsx")).retried(load, waiting) })),
  ) as ComponentType<Props>;
