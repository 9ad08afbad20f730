/** Targets of deliveries: http and https URLs, and subjects in a JetStream stream, `nats://HOST:PORT/SUBJECT` (webhooks.md 7.4). */

type NatsCredentials =
  | { readonly user: string; readonly pass: string }
  | { readonly token: string }
  | undefined;

export type NatsTarget = {
  /** True for `tls://`: the connection must be encrypted. */
  readonly isSecure: boolean;
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** User and password, or a token; undefined if the URL has neither. */
  readonly credentials: NatsCredentials;
  readonly subject: string;
};

const DEFAULT_PORT = 4_222;
const MAX_PORT = 65_535;
const MAX_SUBJECT_LENGTH = 255;

const URL_FORM =
  /^(nats|tls):\/\/(?:([^\s/?#@\\]+)@)?(\[[\da-f:.]+\]|[^\s/?#@:[\]\\]+)(?::(\d{1,5}))?\/([^\s/?#\\]+)$/i;
/** Tokens without wildcards. Names that begin with `$` belong to the server. */
const SUBJECT_FORM = /^[\w-]+(?:\.[\w-]+)*$/;

export const NATS_TARGET_FORM = `nats://HOST:PORT/SUBJECT, with a subject of at most ${MAX_SUBJECT_LENGTH} letters, digits, "-", "_" and single ".", such as "nats://nats.example:4222/chain.blocks"`;

export const isNatsTarget = (target: string): boolean => /^(?:nats|tls):/i.test(target);

/** Returns the parts of a target; undefined if the text does not have their form. */
export function parseNatsTarget(text: string): NatsTarget | undefined {
  const [, scheme, userInfo, host = "", port, subject = ""] = URL_FORM.exec(text) ?? [];
  if (scheme === undefined || !SUBJECT_FORM.test(subject) || subject.length > MAX_SUBJECT_LENGTH)
    return undefined;
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (number < 1 || number > MAX_PORT) return undefined;
  try {
    return {
      isSecure: scheme.toLowerCase() === "tls",
      host: toHost(host),
      port: number,
      credentials: parseCredentials(userInfo),
      subject,
    };
  } catch {
    return undefined;
  }
}

/** Returns a host as in http URLs: `0x7f.1` is `127.0.0.1`. */
const toHost = (host: string): string => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, "");

function parseCredentials(userInfo: string | undefined): NatsCredentials {
  if (userInfo === undefined) return undefined;
  const colon = userInfo.indexOf(":");
  if (colon === -1) return { token: decodeURIComponent(userInfo) };
  return {
    user: decodeURIComponent(userInfo.slice(0, colon)),
    pass: decodeURIComponent(userInfo.slice(colon + 1)),
  };
}

/** Returns the host of a valid target as in http URLs, without brackets: lower-case names, and addresses in one form. */
export function hostOf(target: string): string {
  const nats = isNatsTarget(target) ? parseNatsTarget(target) : undefined;
  // The URL parser changes neither names nor addresses of schemes that it does not know.
  return nats?.host ?? new URL(target).hostname.replace(/^\[|\]$/g, "");
}
