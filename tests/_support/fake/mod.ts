/**
 * A scripted connection, for what a server cannot be made to do.
 *
 * @module
 */

export {
  ack,
  type Answer,
  apiError,
  type Document,
  headerOf,
  NO_RESPONDERS,
  type Published,
  refusal,
  streamInfo,
  TOO_MANY_REQUESTS,
} from "./answers.ts";
export { type Asked, type FakeConnection, fakeConnection, type FakeConnectionOptions } from "./connection.ts";
export { StreamModel } from "./stream_model.ts";
