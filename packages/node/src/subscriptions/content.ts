/** The content of a message: the content of the event or, if it is too large, its identifying members and a link. */

/** Maximum size of a content in deliveries and streams. */
export const MAX_CONTENT_BYTES = 256 * 1_024;

export type Content = {
  /** JSON text; absent for events without content. */
  readonly dataText?: string | undefined;
  /** True if members were omitted. */
  readonly truncated?: true;
  /** Path of the whole content below the node's address, if the node serves it. */
  readonly link?: string;
};

/** Members that identify a resource. */
const NAMING = ["id", "height", "tokenId", "ownerId", "address", "publicKey"];

/** The resource of an event, by the first part of its name, and the member that identifies the resource. */
const RESOURCES: Readonly<Record<string, readonly [resource: string, member: string]>> = {
  block: ["blocks", "id"],
  transaction: ["transactions", "id"],
  delegate: ["transactions", "id"],
  unik: ["uniks", "tokenId"],
  wallet: ["wallets", "address"],
};

/** Fits contents into a size. `event` is the name of the event. */
export type Fit = (event: string, dataText: string | undefined) => Content;

export function createFit(maxBytes: number): Fit {
  // One large content is delivered to many webhooks.
  let last: { readonly text: string; readonly content: Content } | undefined;
  return (event, dataText) => {
    // A text has at most three bytes per UTF-16 unit.
    if (dataText === undefined || dataText.length <= maxBytes / 3) return { dataText };
    if (last?.text !== dataText) {
      const isSmall = Buffer.byteLength(dataText) <= maxBytes;
      last = { text: dataText, content: isSmall ? { dataText } : thin(event, JSON.parse(dataText)) };
    }
    return last.content;
  };
}

function thin(event: string, data: unknown): Content {
  const dataText = JSON.stringify(Array.isArray(data) ? data.map(naming) : naming(data));
  const [resource, member] = RESOURCES[event.slice(0, event.indexOf("."))] ?? [];
  const id = resource === undefined ? undefined : (data as Record<string, unknown> | null)?.[member ?? ""];
  return {
    dataText,
    truncated: true,
    ...(typeof id === "string" && { link: `/api/v2/${resource}/${encodeURIComponent(id)}` }),
  };
}

const naming = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([name]) => NAMING.includes(name)))
    : null;
