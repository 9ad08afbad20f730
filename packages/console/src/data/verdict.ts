/** The verdict on the chain and the node that the header and the overview show. */
import { signal } from "@preact/signals";

export type Verdict = {
  readonly state: "connecting" | "connected" | "catching-up" | "stopped" | "disconnected";
  /** Sentence without the full stop. */
  readonly text: string;
};

/** Written by the notices, which are loaded after the header. */
export const shownVerdict = signal<Verdict>({ state: "connecting", text: "Connecting" });
