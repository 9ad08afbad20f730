/** Reasons of failed attempts in words, and what to do. */
export type Cause = {
  /** Sentence that names the failure. */
  readonly text: string;
  /** Sentences with the next step; absent if the text says it. */
  readonly advice?: string;
};

/** Parts of a target: host, host with port, path. */
type Place = Readonly<Record<"%h" | "%a" | "%p", string>>;

/** Explains a code, with parts of the target. */
type Explanation = readonly [text: string, advice: string];

const CERTIFICATE: Explanation = [
  "The TLS certificate of %a is not valid for this node.",
  "Install a certificate for %h that a public authority has signed and that has not expired.",
];
const NO_NAME: Explanation = [
  "%h has no address.",
  "Correct the host in the target, or the DNS entry of the name.",
];
const NO_ROUTE: Explanation = [
  "%a does not accept connections.",
  "Check the host, the port, and the firewall in front of the receiver.",
];
const CLOSED: Explanation = [
  "%a closed the connection before it responded.",
  "Read the log of the receiver: it may have crashed.",
];
const NO_TLS: Explanation = ["%a does not speak TLS.", "Write http:// in the target, or correct the port."];

const CODES: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: [
    "Nothing listens at %a.",
    "Start the receiver, or correct the host and the port in the target.",
  ],
  NAME_NOT_FOUND: NO_NAME,
  ENOTFOUND: NO_NAME,
  NAME_TIMEOUT: ["The name server did not find %h in time.", "Check the DNS of this node."],
  NAME_UNRESOLVED: ["%h cannot be resolved.", "Check the DNS of this node."],
  CONNECT_TIMEOUT: NO_ROUTE,
  ETIMEDOUT: NO_ROUTE,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  TimeoutError: [
    "%a did not respond in time.",
    "Store the delivery and respond at once. Do the work after the response.",
  ],
  TARGET_REFUSED: [
    "This node does not deliver to the address of %h.",
    "Use a public address, or allow the address with --webhook-allow.",
  ],
  NOT_HTTP: ["%a did not respond with HTTP/1.1.", "Correct the port: another program may listen there."],
  RESPONSE_TOO_LARGE: ["The response of %a is too long.", "Respond with a status and an empty body."],
  ERR_TLS_CERT_ALTNAME_INVALID: CERTIFICATE,
  CERT_HAS_EXPIRED: CERTIFICATE,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
};

const REDIRECT: Explanation = [
  "The receiver redirects to another address.",
  "Enter the final address as the target: the node does not follow redirects.",
];
const REFUSED: Explanation = [
  "The receiver refused the sender.",
  "Give it the secret of this webhook. If the secret is lost, rotate it.",
];
const NO_PATH: Explanation = ["The receiver has nothing at %p.", "Correct the path in the target."];

const STATUSES: Readonly<Record<number, Explanation>> = {
  401: REFUSED,
  403: REFUSED,
  404: NO_PATH,
  405: [
    "The receiver does not accept POST at %p.",
    "Correct the path in the target, or let the receiver accept POST.",
  ],
  410: ["The receiver said that it is gone for good.", "Correct the target, then resume the webhook."],
  413: [
    "The delivery is too long for the receiver.",
    "Raise the limit of the receiver or of the proxy in front of it.",
  ],
  429: ["The receiver gets too many deliveries.", "The node slows down. Raise the limit of the receiver."],
  502: ["A proxy in front of the receiver got no response from it.", "Start the receiver behind the proxy."],
  504: ["A proxy in front of the receiver got no response in time.", "Respond before you do the work."],
};

function explanationOf(status: number): Explanation {
  const known = STATUSES[status];
  if (known) return known;
  if (status < 400) return REDIRECT;
  return status < 500
    ? ["The receiver did not accept the delivery.", "Read its response and its log."]
    : ["The receiver failed.", "Read its log at the time of the attempt."];
}

/**
 * Explains the reason of a failed attempt.
 *
 * @param reason text of the node: a code such as `ECONNREFUSED`, a code with the message of the system, or `HTTP 503`
 * @param target URL; absent for an earlier attempt, whose target is not recorded
 */
export function causeOf(reason: string, target?: string): Cause {
  const status = /^HTTP (\d{3})$/.exec(reason)?.[1];
  const [, code = "", message] = /^(\w+)(?:: (.*))?$/s.exec(reason) ?? [];
  const known =
    status !== undefined
      ? explanationOf(Number(status))
      : Object.hasOwn(CODES, code)
        ? CODES[code]
        : undefined;
  if (!known)
    return {
      text: sentenceOf(code.startsWith("NATS_") && message ? message : reason || "the attempt failed"),
    };
  const place = placeOf(target);
  const inWords = (words: string) => words.replace(/%[hap]/g, (part) => place[part as keyof Place]);
  const [text, advice] = [inWords(known[0]), inWords(known[1])];
  const sentence = target === undefined ? sentenceOf(text) : text;
  return { text: status === undefined ? sentence : sentence.replace(/\.$/, ` (HTTP ${status}).`), advice };
}

const sentenceOf = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

const PORTS: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "nats:": "4222",
  "tls:": "4222",
};

function placeOf(target = "its target"): Place {
  if (!URL.canParse(target)) return { "%h": target, "%a": target, "%p": "its path" };
  const { protocol, hostname, port, pathname } = new URL(target);
  return { "%h": hostname, "%a": `${hostname}:${port || PORTS[protocol]}`, "%p": pathname };
}
