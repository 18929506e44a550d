import assert from "node:assert/strict";
import { readFailure } from "../../src/runtime/dial_failure.ts";

const failureOf = (message: string) =>
  readFailure({ url: "tls://localhost:4222", errors: [new Error(message)], timeout: 1000, tls: true, secrets: [] });

Deno.test("readFailure() explains the messages of TLS libraries in plain words", () => {
  const cases: readonly (readonly [message: string, words: RegExp])[] = [
    [
      "801C8404137F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/openssl/ssl/" +
      "record/ssl3_record.c:355:",
      /^the server's answer is not TLS/,
    ],
    ["received corrupt message of type InvalidContentType", /^the server's answer is not TLS/],
    [
      "40C7:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/openssl/ssl/rec_layer",
      /^the server requires a client certificate/,
    ],
    ["received fatal alert: CertificateRequired", /^the server requires a client certificate/],
    ["unable to verify the first certificate", /^the server's certificate is not signed by a known authority/],
    ["invalid peer certificate: UnknownIssuer", /^the server's certificate is not signed by a known authority/],
    ["self-signed certificate in certificate chain", /^the server's certificate is self-signed/],
    ["certificate has expired", /^the server's certificate has expired$/],
  ];
  for (const [message, words] of cases) {
    const { code, reason } = failureOf(message);
    assert.equal(code, "connection.tls");
    assert.match(String(reason), words);
  }
});
