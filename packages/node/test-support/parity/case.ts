/** Cases of the API parity kit: a recorded request with the recorded answer and what may differ from it. */

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Headers that an answer is compared by; null is absence. */
type Headers = Record<string, Json>;

export type Difference = {
  why: string;
  /** From the root `{status, headers, body}`. */
  path: string;
  /** What this node answers there; absent where it is left open. */
  value?: Json;
  ignore?: true;
  /** The integer as it stands in the text. */
  digits?: string;
};

export type Order = {
  path: string;
  /** Path of the key inside a row. */
  by: string;
  /** The group at this end is cut by the page: only its key counts. */
  openStart?: boolean;
  openEnd?: boolean;
  /** Key of the rows that lack it. */
  absentAs?: Json;
};

export type Case = {
  name: string;
  request: { method: string; path: string; headers: Record<string, string>; body: Json };
  expect: { status: number; headers: Headers; body: Json };
  volatile: string[];
  sizeOnly?: string[];
  unordered?: string[];
  order?: Order;
  defect: string | null;
  differs?: Difference[];
  keep?: unknown;
  service?: string;
};

/** What the node answered. `text` is the body as it came. */
export type Answer = {
  status: number;
  headers: Record<string, string | undefined>;
  body: Json;
  text: string;
};
