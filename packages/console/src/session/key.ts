/**
 * Key of a session in `sessionStorage`. Unlike the cookie, it belongs to the origin including the port, so that servers on
 * other ports do not receive it. Tabs of the origin share it.
 */

/** Messages between tabs: a changed key, or a request for the key by a new tab. */
type Message = { readonly isWanted: true } | { readonly key: string | undefined };

export type SessionKey = {
  /** Stores a key and shares it with the other tabs; undefined removes it everywhere. */
  set(key: string | undefined): void;
  /** `fetch` with the key in a header; only for routes below `/console`. */
  sendWith(makeRequest: typeof fetch): typeof fetch;
};

const HEADER = "x-session-key";
const NAME = "uniknode-session-key";

/** Storage of the tab; undefined if the browser forbids it, and the key lasts until the page is left. */
export function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** @param onReceived called when another tab has changed the key */
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
