/** A key to sign checkpoints with. */
import { generateKeyPairSync } from "node:crypto";

export const CHECKPOINT_KEY = `${generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" })}`;
