/** The context in which a block is judged. */
import type { Draft } from "../state/draft.ts";
import type { BlockContext } from "./apply.ts";
import type { Repetitions } from "./repetitions.ts";

export type JudgeContext = BlockContext & {
  /** The last accepted block. */
  readonly head: { readonly id: string; readonly height: number; readonly timestamp: number };
  /** State at the head; an accepted block writes its changes to it, every other one writes none. */
  readonly draft: Draft;
  readonly isBlockStored: (id: string) => boolean;
  readonly isTransactionStored: (id: string) => boolean;
  readonly repetitions: Repetitions;
};
