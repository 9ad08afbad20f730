/** Parses signed transactions from the output of `uniknode tx --dry-run --json`, or from API requests. */

/** Maximum number of transactions per request (http-api.md 6.4). */
export const MAX_TRANSACTIONS = 40;
/** Larger than 40 transactions of maximum size. */
export const MAX_CHARACTERS = 1_000_000;

export type SignedTransaction = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly type: number;
  readonly typeGroup?: number;
};

export type SignedReading =
  | { readonly transactions: readonly SignedTransaction[]; readonly fault?: undefined }
  | { readonly transactions?: undefined; readonly fault: string };

export function readSigned(text: string): SignedReading {
  if (text.trim() === "") return { fault: "Enter JSON." };
  if (text.length > MAX_CHARACTERS) return { fault: `At most ${MAX_CHARACTERS} characters are allowed.` };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` };
  }
  const items = itemsOf(json);
  if (items.length === 0) return { fault: "It contains no transaction." };
  if (items.length > MAX_TRANSACTIONS) {
    return { fault: `At most ${MAX_TRANSACTIONS} transactions are allowed, not ${items.length}.` };
  }
  const transactions: SignedTransaction[] = [];
  for (const [index, item] of items.entries()) {
    const fault = faultOf(item);
    if (fault) return { fault: items.length === 1 ? `It ${fault}` : `Transaction ${index + 1} ${fault}` };
    const transaction = item as SignedTransaction;
    if (transactions.some(({ id }) => id === transaction.id)) {
      return { fault: `Transaction ${index + 1} appears twice.` };
    }
    transactions.push(transaction);
  }
  return { transactions };
}

/** Accepts a transaction, a list, or an object that contains them. */
function itemsOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  const { transactions, transaction } = Object(json) as { transactions?: unknown; transaction?: unknown };
  if (Array.isArray(transactions)) return transactions;
  return [transaction ?? json];
}

function faultOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return "is not a transaction.";
  const { id, type, signature, signatures } = item as Record<string, unknown>;
  if (typeof id !== "string" || !/^[0-9a-f]{64}$/.test(id)) return 'has no "id" of 64 digits.';
  if (typeof type !== "number") return 'has no "type".';
  if (signature === undefined && signatures === undefined) return "is not signed.";
  return undefined;
}
