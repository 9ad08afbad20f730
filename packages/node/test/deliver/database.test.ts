/** Requirements of a delivery worker for its database. */
import { expect, test } from "vitest";
import { requireWritable } from "../../src/processes/deliver/database.ts";

const asked = (row: object) => requireWritable({ query: async <Row>() => [row as Row] });

test("A replica may become writable: the service is started again, unlike after a wrong option.", async () => {
  await expect(asked({ isReadOnly: true, user: "u", table: null })).rejects.toMatchObject({
    code: "POSTGRES_READ_ONLY",
    isRetryable: true,
  });
  await expect(asked({ isReadOnly: false, user: "u", table: "attempts" })).rejects.toMatchObject({
    code: "CONFIG",
    message: expect.stringContaining("attempts"),
  });
  await asked({ isReadOnly: false, user: "u", table: null });
});
