/** All signatures of a block as work that can be done in another thread, between parsing and `checkBlock`. */
import type { TransactionContext } from "../transactions/context.ts";
import { signatureJob, verifyJob } from "../transactions/verify.ts";
import type { Block } from "./block.ts";
import {
  headerSignatureJob,
  type SignatureJob,
  type SignatureVerdict,
  verifyHeaderJob,
} from "./signature.ts";

/** A transaction whose verdict does not depend on its signature has the verdict in place of a job. */
export type BlockJobs = { header: SignatureJob; transactions: (SignatureJob | boolean)[] };

export type BlockVerdicts = { header: SignatureVerdict; transactions: boolean[] };

/** The work left by parsing without `checkSignature`. */
export const blockJobs = ({ header, transactions }: Block, context: TransactionContext): BlockJobs => ({
  header: headerSignatureJob(header, context.network),
  transactions: transactions.map((transaction) => signatureJob(transaction, context)),
});

export const verifyBlockJobs = ({ header, transactions }: BlockJobs): BlockVerdicts => ({
  header: verifyHeaderJob(header),
  transactions: transactions.map((job) => (typeof job === "boolean" ? job : verifyJob(job))),
});

/** The block with the verdicts on its transactions; the header's goes to `checkBlock`. */
export const withVerdicts = ({ header, transactions }: Block, verdicts: BlockVerdicts): Block => ({
  header,
  transactions: transactions.map((transaction, index) => ({
    ...transaction,
    isVerified: verdicts.transactions[index] === true,
  })),
});
