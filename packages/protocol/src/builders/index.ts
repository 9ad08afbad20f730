export * from "./core.ts";
export type { Envelope, EnvelopeV1 } from "./envelope.ts";
export * from "./factory.ts";
export * from "./magistrate.ts";
export * from "./nft.ts";
export * from "./uns.ts";
