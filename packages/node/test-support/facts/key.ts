/** Key that signs checkpoints. */
import { generateKeyPairSync } from "node:crypto";

export const CHECKPOINT_KEY = `${generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" })}`;
