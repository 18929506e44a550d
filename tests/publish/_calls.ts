import { Call, type CallFields } from "../../src/publish/call.ts";

/** A call whose rows are not loaded. */
export function preparingCall(fields: Partial<CallFields> = {}): Call {
  return new Call({ resource: "r", count: 0, keepsRows: false, reportsSequences: true, ...fields });
}

/** A call whose rows are loaded. */
export function loadedCall(rows: object = { count: 1 }, destination: object = {}, fields?: Partial<CallFields>): Call {
  const call = preparingCall(fields);
  const stub = { from: 0, bodyBytes: 0, crc32c: 0, hasId: () => true, rowNumber: (index: number) => index };
  const complete = { ...stub, release: () => {}, free: () => {}, ...rows };
  call.load(complete as never, { duplicateWindow: Infinity, ...destination } as never);
  return call;
}
