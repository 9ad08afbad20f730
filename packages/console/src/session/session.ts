/** Session of the user. The node identifies it by a cookie that scripts cannot read, and by the key of this origin. */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { SessionKey } from "./key.ts";

export type SessionState = {
  readonly signedIn: boolean;
  /** True if the node runs a dev chain with its commands. */
  readonly devChain: boolean;
  /** True if blocks are forged for transactions only. */
  readonly onDemand?: boolean;
  readonly network: string;
  /** True if the live stream requires no sign-in. */
  readonly eventsPublic: boolean;
  /** Version of Uniknode. */
  readonly version: string;
};

/** Code of a one-time link, or the webhook token. */
export type Credential = { readonly code: string } | { readonly token: string };

export type Session = {
  /** Absent until the first response. */
  readonly state: ReadonlySignal<SessionState | undefined>;
  /**
   * True if the session has ended without a sign-out here. `state` stays unchanged until the next sign-in or sign-out, so
   * that forms keep their input.
   */
  readonly isLost: ReadonlySignal<boolean>;
  /** @returns whether the node responded before the signal was aborted */
  read(signal?: AbortSignal): Promise<boolean>;
  /** @throws {SignInError} */
  signIn(credential: Credential): Promise<void>;
  signOut(): Promise<void>;
};

/** The node refused a code or token; the message says what to do. */
export class SignInError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** True if the same credential may be accepted later. */
  readonly isRetryable: boolean;

  constructor(status: number, message: string) {
    super(message);
    this.name = "SignInError";
    this.status = status;
    this.isRetryable = status === 0 || status === 429 || status >= 500;
  }
}

const PATH = "/console/session";
const SIGNED_OUT: SessionState = {
  signedIn: false,
  devChain: false,
  network: "",
  eventsPublic: false,
  version: "",
};

/**
 * @param makeRequest `fetch` that sends the key
 * @param onChange called after each sign-in and sign-out
 */
export function createSession(
  makeRequest: typeof fetch,
  key: Pick<SessionKey, "set">,
  onChange: () => void,
): Session {
  const state = signal<SessionState>();
  const isLost = signal(false);

  async function ask(signal: AbortSignal | null): Promise<SessionState | undefined> {
    const response = await makeRequest(PATH, { headers: { accept: "application/json" }, signal });
    const isState = response.ok && response.headers.get("content-type")?.includes("json");
    return isState ? ((await response.json()) as SessionState) : undefined;
  }

  /** Responses to requests from before a sign-in or sign-out are obsolete. */
  let changes = 0;

  async function read(signal: AbortSignal | null = null): Promise<boolean> {
    const before = changes;
    const current = await ask(signal).catch(() => undefined);
    if (before !== changes) return current !== undefined;
    const known = state.peek();
    if (current) isLost.value = known?.signedIn === true && !current.signedIn;
    if (!known || (current && !isLost.peek() && !isSame(current, known))) state.value = current ?? SIGNED_OUT;
    return current !== undefined;
  }

  async function change(): Promise<void> {
    changes++;
    await read();
    onChange();
  }

  return {
    state,
    isLost,
    read,
    async signIn(credential) {
      const response = await makeRequest(PATH, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify(credential),
      }).catch(() => undefined);
      if (!response) throw new SignInError(0, "The node does not respond. Is it running?");
      if (!response.ok) throw new SignInError(response.status, await reasonOf(response));
      key.set(((await response.json()) as { key: string }).key);
      await change();
    },
    async signOut() {
      const response = await makeRequest(PATH, { method: "DELETE" }).catch(() => undefined);
      if (response?.ok) key.set(undefined);
      const known = state.peek();
      if (response?.ok && known) state.value = { ...known, signedIn: false };
      await change();
    },
  };
}

/** Compares two states as JSON, because both come from the node with the same member order. */
const isSame = (a: SessionState, b: SessionState): boolean => JSON.stringify(a) === JSON.stringify(b);

async function reasonOf(response: Response): Promise<string> {
  const { message } = (await response.json().catch(() => ({}))) as { message?: unknown };
  return typeof message === "string" ? message : `The node responded with ${response.status}.`;
}
