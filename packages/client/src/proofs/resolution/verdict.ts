/** Verdicts about resolutions. */
import { type Refused, type RefuseUnless, refuseUnless as refuse } from "../refusal.ts";

/** Steps of the verifier that can fail (facts.md 11), in their order. */
export type ResolutionStep =
  /** A member has another form, or exceeds its bound. */
  | "FORM"
  /** The resolution is of another unik. */
  | "ID"
  /** The note is not a checkpoint of a tree of facts. */
  | "NOTE"
  /** Too few of the keys have signed the checkpoint. */
  | "SIGNATURE"
  /** The checkpoint, or the round of the map, is below the required height. */
  | "AGE"
  /** The checkpoint does not contain the leaf with the root of the map. */
  | "INCLUSION"
  /** The path does not lead to the root of the map. */
  | "PATH"
  /** The value is not the one at the end of the path. */
  | "VALUE"
  /** A page does not lead to the root of the properties, or a page is missing. */
  | "PROPERTIES";

/** A unik after the block at `height`, as the signers of the checkpoint claim it. */
export type ResolvedUnik = {
  /** Address. */
  readonly owner: string;
  /** 1: individual, 2: organization, 3: network; undefined for a token without this property. */
  readonly type: string | undefined;
  /** Stored properties: all of them, or those of the pages. */
  readonly properties: Readonly<Record<string, string>>;
  /** True if the owner or an issuer set the property `LifeCycle/Status` to "4" (aborted). */
  readonly revoked: boolean;
  /** Digest from which the next page begins; null: no page follows. */
  readonly next: string | null;
  /** Root of the map of properties: pages with equal roots are of one state. */
  readonly root: string;
};

export type ResolutionVerdict =
  | {
      readonly verdict: "proven";
      /** Null: the unik did not exist. */
      readonly unik: ResolvedUnik | null;
      /** Last block of the round after which this was true. */
      readonly height: number;
      /** Keys that signed the checkpoint. */
      readonly signers: readonly string[];
      /** The checkpoint, to compare with later ones. */
      readonly checkpoint: { readonly size: number; readonly root: string; readonly height: number };
    }
  | Refused<ResolutionStep>;

/** @throws {Refusal} */
export const refuseUnless: RefuseUnless<ResolutionStep> = refuse;
