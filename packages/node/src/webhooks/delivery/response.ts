/** Reads the response of a target (RFC 9112), with a bound on everything that the target sends. */
import { CodedError } from "../../platform/coded-error.ts";

export type DeliveryResponse = {
  /** HTTP status; absent if a target without statuses acknowledged the delivery. */
  readonly status?: number;
  readonly retryAfter?: string;
  /** Beginning of the body as text, which often explains a refusal. Absent if the body is empty. */
  readonly excerpt?: string;
  /** First header fields in the order received, each a line `name: value`, without cookies. Absent if empty. */
  readonly headers?: string;
};

/** Maximum bytes of a response: interim responses, headers, body, framing and trailers together. */
const MAX_BYTES = 32_768;
/** Maximum pieces of a response. Each read, interim response and chunk is one: their bytes bound the CPU time only loosely. */
const MAX_PIECES = 256;
const MAX_EXCERPT_BYTES = 512;
/** Bounds on the header fields that are stored: their number, and characters of a value and in total. */
const [MAX_HEADERS, MAX_VALUE_LENGTH, MAX_HEADERS_LENGTH] = [16, 128, 1_024];

const END_OF_HEAD = "\r\n\r\n";
const END_OF_LINE = "\r\n";
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |\r|$)/;
/** Header fields that have an effect. */
const FIELDS = /\n(retry-after|content-length|transfer-encoding|connection|keep-alive):([^\r\n]*)/gi;
const HEADER = /\n([\w!#$%&'*+.^`|~-]+):([^\r\n]*)/g;
const CHUNK_SIZE = /^[\da-f]{1,8}(?=[ \t;]|$)/i;
const SWITCHING_PROTOCOLS = 101;

/** The end of a body: after a number of bytes, after the last chunk and its trailers, or with the connection. */
type Framing = "length" | "chunks" | "trailers" | "connection";

/**
 * Reads one response. The status decides about a delivery: a truncated or endless body does not change the outcome.
 * Whatever the bound does not cover is not read: the connection is closed instead.
 */
export class ResponseReader {
  /** True if another request can follow on the connection. */
  isReusable = false;
  /** Time without a request after which the target closes the connection, if it has announced one. */
  idleMs: number | undefined;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #headers = "";
  #framing: Framing = "connection";
  /** Bytes of the body, or of the current chunk, that have not arrived. */
  #missing = 0;
  /** True from the size of a chunk to the line break after its bytes. */
  #isAfterChunk = false;
  #unread: Buffer = Buffer.alloc(0);
  /** Number of unread bytes that have been searched without result. */
  #searched = 0;
  #bytes = 0;
  #pieces = 0;
  readonly #excerpt: Buffer[] = [];
  #excerptBytes = 0;

  /** The response, as far as it has arrived; undefined before its status. */
  get response(): DeliveryResponse | undefined {
    if (this.#status === undefined) return undefined;
    const excerpt = Buffer.concat(this.#excerpt).toString();
    return {
      status: this.#status,
      ...(this.#retryAfter !== undefined && { retryAfter: this.#retryAfter }),
      ...(excerpt !== "" && { excerpt }),
      ...(this.#headers !== "" && { headers: this.#headers }),
    };
  }

  /**
   * Reads bytes. Returns `true` if the response has ended.
   *
   * @throws {CodedError} RESPONSE_TOO_LARGE, NOT_HTTP; if the status has arrived, `response` remains valid
   */
  read(bytes: Buffer): boolean {
    this.#bytes += bytes.length;
    this.#countPiece();
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    if (this.#status === undefined && !this.#readHeads()) {
      this.#checkBytes();
      return false;
    }
    const hasEnded = this.#readBody();
    if (!hasEnded) this.#checkBytes();
    else if (this.#unread.length > 0) this.isReusable = false;
    return hasEnded;
  }

  #countPiece(): void {
    this.#pieces++;
    if (this.#pieces > MAX_PIECES) throw tooLarge(`${MAX_PIECES} pieces`);
  }

  #checkBytes(): void {
    if (this.#bytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
  }

  /** Reads interim responses, and the head of the response. Returns `false` if it is incomplete. */
  #readHeads(): boolean {
    for (;;) {
      const end = this.#find(END_OF_HEAD);
      if (end === -1 || end > MAX_BYTES) return false;
      const head = this.#unread.toString("latin1", 0, end);
      this.#unread = this.#unread.subarray(end + END_OF_HEAD.length);
      const [, version, digits] = STATUS_LINE.exec(head) ?? [];
      const status = Number(digits);
      if (digits === undefined || status === SWITCHING_PROTOCOLS) throw notHttp();
      if (status >= 200) {
        this.#headers = headersOf(head);
        this.#start(status, version === "1", fieldsOf(head));
        return true;
      }
      // Clients must accept interim responses that they have not requested (RFC 9110 15.2).
      this.#countPiece();
    }
  }

  #start(status: number, isPersistent: boolean, fields: ReadonlyMap<string, string>): void {
    this.#status = status;
    this.#retryAfter = fields.get("retry-after");
    const length = fields.get("content-length");
    const encoding = fields.get("transfer-encoding");
    if (status === 204 || status === 304) this.#framing = "length";
    else if (encoding !== undefined) this.#framing = /^chunked$/i.test(encoding) ? "chunks" : "connection";
    else if (length !== undefined && /^\d{1,15}$/.test(length)) {
      this.#framing = "length";
      this.#missing = Number(length);
    }
    const connection = fields.get("connection") ?? "";
    this.isReusable =
      isPersistent &&
      this.#framing !== "connection" &&
      (length === undefined || encoding === undefined) &&
      !/\bclose\b/i.test(connection);
    const timeout = /\btimeout=(\d{1,9})/i.exec(fields.get("keep-alive") ?? "")?.[1];
    if (timeout !== undefined) this.idleMs = Number(timeout) * 1_000;
  }

  #readBody(): boolean {
    switch (this.#framing) {
      case "length":
        this.#readMissing();
        return this.#missing === 0;
      case "connection":
        this.#missing = this.#unread.length;
        this.#readMissing();
        return false;
      default:
        return this.#readChunks();
    }
  }

  #readChunks(): boolean {
    while (this.#framing === "chunks") {
      this.#readMissing();
      if (this.#missing > 0) return false;
      const end = this.#find(END_OF_LINE);
      if (end === -1) return false;
      const line = this.#unread.toString("latin1", 0, end);
      // A line break follows the bytes of a chunk.
      if (this.#isAfterChunk !== (line === "")) throw notHttp();
      if (!this.#isAfterChunk) this.#startChunk(line);
      else this.#isAfterChunk = false;
      if (this.#framing === "chunks") this.#unread = this.#unread.subarray(end + END_OF_LINE.length);
    }
    // The line break of the last chunk begins the empty line after it, if there are no trailers.
    const end = this.#find(END_OF_HEAD);
    if (end === -1) return false;
    this.#unread = this.#unread.subarray(end + END_OF_HEAD.length);
    return true;
  }

  #startChunk(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[0];
    if (size === undefined) throw notHttp();
    this.#countPiece();
    this.#missing = Number.parseInt(size, 16);
    if (this.#missing === 0) this.#framing = "trailers";
    else this.#isAfterChunk = true;
  }

  /** Returns the offset of a text in the unread bytes, or -1. Bytes are searched once, in however many pieces they arrive. */
  #find(text: string): number {
    const at = this.#unread.indexOf(text, this.#searched, "latin1");
    this.#searched = at === -1 ? Math.max(0, this.#unread.length - text.length + 1) : 0;
    return at;
  }

  /** Reads bytes of the body as far as they have arrived. */
  #readMissing(): void {
    const part = this.#unread.subarray(0, this.#missing);
    this.#unread = this.#unread.subarray(part.length);
    this.#missing -= part.length;
    const kept = part.subarray(0, MAX_EXCERPT_BYTES - this.#excerptBytes);
    if (kept.length === 0) return;
    this.#excerpt.push(kept);
    this.#excerptBytes += kept.length;
  }
}

/** Returns the values of the header fields that have an effect, by lower-case names. */
function fieldsOf(head: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = "", text = ""] of head.matchAll(FIELDS)) {
    const key = name.toLowerCase();
    const former = fields.get(key);
    fields.set(key, former === undefined ? text.trim() : `${former}, ${text.trim()}`);
  }
  return fields;
}

/** Returns the header fields that the delivery log shows. A cookie could be a secret of the target. */
function headersOf(head: string): string {
  const lines: string[] = [];
  for (const [, name = "", value = ""] of head.matchAll(HEADER)) {
    if (lines.length === MAX_HEADERS) break;
    if (!/^set-cookie/i.test(name))
      lines.push(`${name.toLowerCase()}: ${value.trim().slice(0, MAX_VALUE_LENGTH)}`);
  }
  return lines.join("\n").slice(0, MAX_HEADERS_LENGTH);
}

const tooLarge = (bound: string) =>
  new CodedError("RESPONSE_TOO_LARGE", `the response has more than ${bound}`, { isRetryable: true });

const notHttp = () =>
  new CodedError("NOT_HTTP", "the response is not a response of HTTP/1.1", { isRetryable: true });
