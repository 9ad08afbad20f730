/** Selects the implementation that verifies signatures in this process or thread. */
import type { SignatureBackend } from "@uniknode/protocol";
import { loadNativeVerify } from "./native.ts";
import type { PackedVerify } from "./packed-checks.ts";

export type SelectedBackend = {
  /** Name of the implementation, for logs. */
  readonly name: string;
  readonly verify: PackedVerify;
  /** The reason why a faster implementation is not used. */
  readonly refusal?: Error;
};

/** Selects WebAssembly even if something faster is available. */
const NONE = "none";

/**
 * Verifier of packed signatures: the accelerator if one is requested, otherwise the addon if this machine has
 * one. Both must pass a self-test; otherwise WebAssembly is used. Unused implementations are not loaded.
 *
 * @param source as for `loadAccelerator`; `none` for WebAssembly; undefined or empty for the addon
 */
export async function selectBackend(source: string | undefined): Promise<SelectedBackend> {
  try {
    if (source && source !== NONE) {
      const { loadAccelerator } = await import("./accelerator.ts");
      return await verifyBy(loadAccelerator(source));
    }
    const verify = source === NONE ? undefined : loadNativeVerify();
    return verify ? { name: "libsecp256k1 (native)", verify } : await verifyBy();
  } catch (error) {
    return { ...(await verifyBy()), refusal: error as Error };
  }
}

async function verifyBy(backend?: SignatureBackend): Promise<SelectedBackend> {
  const [{ defaultSignatureBackend }, { createPackedVerify }] = await Promise.all([
    import("@uniknode/protocol"),
    import("./packed-verify.ts"),
  ]);
  return { name: (backend ?? defaultSignatureBackend).name, verify: createPackedVerify(backend) };
}
