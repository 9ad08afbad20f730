/** Pages and actions with their search words. */

export type Destination = { readonly href: string; readonly text: string; readonly kind: "page" | "action" };

type Entry = readonly [path: string, text: string, words?: string];

const PAGES: readonly Entry[] = [
  ["", "Overview", "home start"],
  ["blocks", "Blocks"],
  ["transactions", "Transactions"],
  ["transactions?state=pending", "Pool", "pending transactions"],
  ["wallets", "Wallets", "addresses accounts"],
  ["uniks", "Uniks", "nfts tokens"],
  ["delegates", "Delegates", "round forgers"],
  ["webhooks", "Webhooks", "deliveries"],
  ["live", "Live events", "stream tail"],
  ["node", "Node", "peers options health memory disk forger"],
  ["docs", "Documentation", "guides reference help"],
  ["docs/api", "API", "openapi operations documentation"],
];
const ACTIONS: readonly Entry[] = [
  ["send", "Send a transfer", "pay transaction"],
  ["send?kind=vote", "Vote for a delegate"],
  ["send?kind=mint", "Mint a unik", "create nft"],
  ["send?kind=update", "Change the properties of a unik", "update set"],
  ["send?kind=transfer-unik", "Transfer a unik", "give nft"],
  ["send?kind=disclose", "Disclose names of a unik", "explicit values"],
  ["send?kind=signed", "Send a signed transaction", "broadcast json"],
  ["webhooks/new", "Create a webhook", "new register"],
  ["sign-in", "Sign in or out", "login logout token session"],
];
const DEV_CHAIN: Entry = ["dev", "Dev chain", "mine reorganize travel forge snapshot faucet accounts"];

const MAX_FOUND = 5;

/** Returns the destinations that match all words of the text as prefixes. */
export function destinationsFor(text: string, isDevChain: boolean): readonly Destination[] {
  const wanted = wordsOf(text);
  if (wanted.length === 0) return [];
  const find = (entries: readonly Entry[], kind: Destination["kind"]): Destination[] =>
    entries
      .filter(([, text, words = ""]) =>
        wanted.every((word) => wordsOf(`${text} ${words}`).some((own) => own.startsWith(word))),
      )
      .map(([path, text]) => ({ href: `/console/${path}`, text, kind }));
  return [...find(isDevChain ? [...PAGES, DEV_CHAIN] : PAGES, "page"), ...find(ACTIONS, "action")].slice(
    0,
    MAX_FOUND,
  );
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);
