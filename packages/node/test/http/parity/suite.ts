/** Compares every recorded response of the old network's API with the response over a read model. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkResponses } from "../../../test-support/http/described.ts";
import { ask } from "../../../test-support/parity/ask.ts";
import type { Case } from "../../../test-support/parity/case.ts";
import { faultsOf } from "../../../test-support/parity/compare.ts";
import { caseFiles } from "../../../test-support/parity/files.ts";
import { startNode } from "../../../test-support/parity/node.ts";
import type { OpenReadModel } from "../../../test-support/parity/read-models.ts";

const FOLDER = "test/vectors/api";

export function testParity(openReadModel: OpenReadModel, isMeant: (one: Case) => boolean = () => true): void {
  let node: Awaited<ReturnType<typeof startNode>>;
  beforeAll(async () => {
    node = await startNode(FOLDER, { prepare: checkResponses, openReadModel });
  });
  afterAll(() => node?.close());

  for (const { file, cases } of caseFiles(FOLDER)) {
    describe(file, () => {
      for (const one of cases.filter(isMeant)) {
        test(one.name, async () => {
          const response = await ask(node.port, one);
          // If the old network's response is a defect, ours is not compared.
          expect(faultsOf(one, response, `http://127.0.0.1:${node.port}`) ?? []).toEqual([]);
        });
      }
    });
  }
}
