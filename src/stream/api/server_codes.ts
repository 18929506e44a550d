/**
 * The error codes of the JetStream API that jetrow handles (`server/errors.json` of nats-server).
 *
 * @module
 */

/** No message has the sequence, or matches. */
export const NO_MESSAGE = 10037;
/** The stream exists with another configuration. */
export const STREAM_NAME_IN_USE = 10058;
/** A stream cannot be created: another stream captures some of its subjects. */
export const SUBJECTS_OVERLAP = 10065;
/** The stream does not exist. */
export const STREAM_NOT_FOUND = 10059;
/** All peers of the stream are down. */
export const STREAM_OFFLINE = 10118;
/** The stream is offline, and the description says why: it requires a newer server. */
export const STREAM_OFFLINE_REASON = 10194;
/** The meta group has no leader. */
export const CLUSTER_NOT_AVAILABLE = 10008;
/** JetStream is off for the account. */
export const NOT_ENABLED_FOR_ACCOUNT = 10039;
/** JetStream is off. */
export const NOT_ENABLED = 10076;
