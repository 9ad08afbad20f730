/** Subject of the suite: a read model over the chain and the state of `test-support/http`, and its writer. */
import type { Block } from "@uniknode/protocol";
import type { ReadModel } from "../../../src/read/port.ts";

export type Subject = {
  readonly model: ReadModel;
  /** Commits the next block; the state does not change. */
  append(block: Block): Promise<void>;
  /** Reverts the blocks above a height. */
  revertTo(height: number): Promise<void>;
  close(): Promise<void>;
};

/** `isEmpty`: without any block; `hasTime`: without a time limit for reads that test many rows. */
export type SubjectOptions = { readonly isEmpty?: boolean; readonly hasTime?: boolean };
export type OpenSubject = (options?: SubjectOptions) => Promise<Subject>;
