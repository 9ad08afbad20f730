/**
 * The key of a session, kept in `sessionStorage`: unlike the cookie it belongs to the origin, port included, so no server of
 * another port receives it. Tabs of the origin hand it to each other.
 */

/** Every change is sent to the other tabs; a new tab requests the key. */
type Message = { readonly isWanted: true } | { readonly key: string | undefined };

export type SessionKey = {
  /** Stores a key and hands it to the other tabs; undefined removes it everywhere. */
  set(key: string | undefined): void;
  /** The same `fetch` with the key in a header; only for routes below `/console`. */
  sendWith(makeRequest: typeof fetch): typeof fetch;
};

const HEADER = "x-session-key";
const NAME = "uniknode-session-key";

/** Storage of the tab; undefined if the browser forbids it: then the key lasts until the page is left. */
export function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** @param onReceived is called when another tab has changed the key */
export function shareKey(
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined,
  channel: Pick<BroadcastChannel, "postMessage" | "addEventListener">,
  onReceived: () => void,
): SessionKey {
  let own = storage?.getItem(NAME) ?? undefined;
  const post = (message: Message) => channel.postMessage(message);

  function keep(key: string | undefined): void {
    own = key;
    if (key === undefined) storage?.removeItem(NAME);
    else storage?.setItem(NAME, key);
  }

  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if ("isWanted" in data) {
      if (own !== undefined) post({ key: own });
    } else if (data.key !== own) {
      keep(data.key);
      onReceived();
    }
  });
  if (own === undefined) post({ isWanted: true });

  return {
    set(key) {
      keep(key);
      post({ key });
    },
    sendWith: (makeRequest) => (input, init) => {
      const headers = new Headers(init?.headers);
      if (own !== undefined) headers.set(HEADER, own);
      return makeRequest(input, { ...init, headers });
    },
  };
}
