/** Sentences to choose from: each fills the events and the conditions of a draft. */
import { addressFault, idFault } from "../../../components/faults.ts";
import type { Draft } from "./draft.ts";

export type Sentence = {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  readonly events: readonly string[];
  /** The value that completes the sentence; absent if it has none. */
  readonly input?: {
    readonly label: string;
    /** Asks for the value. */
    readonly request: string;
    readonly placeholder: string;
    /** Member of the content that has the value. */
    readonly keyOf: (value: string) => string;
    readonly faultOf: (value: string) => string | undefined;
  };
};

const isPublicKey = (text: string): boolean => /^0[23][0-9a-f]{64}$/.test(text);

export const SENTENCES: readonly Sentence[] = [
  {
    id: "payments",
    title: "Payments to an address",
    hint: "Transfers of tokens and uniks; not multi-payments.",
    events: ["transaction.applied"],
    input: {
      label: "Address",
      request: "Enter the address.",
      placeholder: "34 letters and digits",
      keyOf: () => "recipientId",
      faultOf: addressFault,
    },
  },
  {
    id: "unik",
    title: "Changes of a unik",
    hint: "A new owner, changed properties, disclosed names.",
    events: ["unik.*"],
    input: {
      label: "Id of the unik",
      request: "Enter the id of the unik.",
      placeholder: "64 hexadecimal digits",
      keyOf: () => "tokenId",
      faultOf: idFault,
    },
  },
  {
    id: "blocks",
    title: "Every block",
    hint: "One delivery for each block that is added to the chain.",
    events: ["block.applied"],
  },
  {
    id: "missed",
    title: "Missed slots of a delegate",
    hint: "One delivery for each block that it did not forge.",
    events: ["forger.missing"],
    input: {
      label: "Name or public key of the delegate",
      request: "Enter the delegate.",
      placeholder: "Name",
      keyOf: (value) => (isPublicKey(value) ? "delegate.publicKey" : "delegate.username"),
      faultOf: () => undefined,
    },
  },
  {
    id: "everything",
    title: "Everything",
    hint: "All events of the chain and of this node.",
    events: ["*"],
  },
];

type Selection = Pick<Draft, "events" | "conditions" | "match">;

/** Returns the events and conditions of a sentence with its value. */
export const selectionFor = ({ events, input }: Sentence, value: string): Selection => ({
  events,
  conditions: input ? [{ key: input.keyOf(value), condition: "eq", value }] : [],
  match: "any",
});

export type Chosen = { readonly sentence: Sentence; readonly value: string };

/** Returns the sentence that a draft is, if it is one. */
export function sentenceOf({ events, conditions }: Selection): Chosen | undefined {
  const value = conditions[0]?.value ?? "";
  const sentence = SENTENCES.find((sentence) => {
    const selection = selectionFor(sentence, value);
    return JSON.stringify([selection.events, selection.conditions]) === JSON.stringify([events, conditions]);
  });
  return sentence && { sentence, value };
}

/** Returns the sentence that asks for what a draft lacks; undefined if the draft is complete. */
export function missingOf(draft: Draft): string | undefined {
  if (draft.target.trim() === "") return "Enter the URL of your receiver.";
  return missingSelectionOf(draft);
}

/** Returns the sentence that asks for the events and conditions that a draft lacks; undefined if it has them. */
export function missingSelectionOf(draft: Draft): string | undefined {
  if (draft.events.length === 0) return "Choose what to receive.";
  const { sentence, value = "" } = sentenceOf(draft) ?? {};
  if (!sentence?.input) return undefined;
  const isMissing = value === "" || sentence.input.faultOf(value) !== undefined;
  return isMissing ? sentence.input.request : undefined;
}
