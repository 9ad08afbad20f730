/** Case of the API parity kit: a recorded request with the recorded response and the allowed differences. */

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Headers by which a response is compared; null means absent. */
type Headers = Record<string, Json>;

export type Difference = {
  why: string;
  /** Path from the root `{status, headers, body}`. */
  path: string;
  /** Value that this node returns there; absent if it is not fixed. */
  value?: Json;
  ignore?: true;
  /** Digits of the integer in the text. */
  digits?: string;
};

export type Order = {
  path: string;
  /** Path of the key inside a row. */
  by: string;
  /** The page cuts off the group at this end: only its key is compared. */
  openStart?: boolean;
  openEnd?: boolean;
  /** Key of rows that lack it. */
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

/** Response of the node. `text` is the body as received. */
export type NodeResponse = {
  status: number;
  headers: Record<string, string | undefined>;
  body: Json;
  text: string;
};
