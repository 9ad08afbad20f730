/** What the suite is run on: a read model over the chain and the state of `test-support/http`, and its writer. */
import type { Block } from "@uniknode/protocol";
import type { ReadModel } from "../../../src/read/port.ts";

export type Subject = {
  readonly model: ReadModel;
  /** Commits the next block; the state stays what it is. */
  append(block: Block): Promise<void>;
  /** Reverts the blocks above a height. */
  revertTo(height: number): Promise<void>;
  close(): Promise<void>;
};

/** `isEmpty`: without any block; `hasTime`: whether a read that tests many rows may take any time. */
export type SubjectOptions = { readonly isEmpty?: boolean; readonly hasTime?: boolean };
export type OpenSubject = (options?: SubjectOptions) => Promise<Subject>;
