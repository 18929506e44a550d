/**
 * A scripted connection, for behaviour that a real server cannot be made to show.
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
