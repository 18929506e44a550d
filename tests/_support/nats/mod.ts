/**
 * Real nats-servers, proxies between them and a client, and requests to them.
 *
 * Files that are bundled for a browser or workerd import single files, not this index.
 *
 * @module
 */

export { api, createConsumer, createStream, publishAcked } from "./api.ts";
export { cacheFolder, findBinary, natsServerBinary, natsServerVersion } from "./binary.ts";
export { makeCertificates, opensslMissing } from "./certificates.ts";
export { type NatsCluster, startNatsCluster } from "./cluster.ts";
export { type JwtUser, makeOperator, nkeyUser, passwordUsers, publisherPermissions, tokenAuth } from "./credentials.ts";
export { editFrames, type Frame, FrameSplitter } from "./frames.ts";
export { ask, clientsOf } from "./monitor.ts";
export { freePorts } from "./ports.ts";
export { platform } from "./release.ts";
export { type NatsServer, type NatsServerOptions, startNatsServer } from "./server.ts";
export { PortTaken, ServerProcess } from "./server_process.ts";
export { addStream, infoOf, managerOf, type Stored, storedIn } from "./stored.ts";
export { startTcpProxy, type TcpProxy, type TcpProxyOptions, type Way } from "./tcp_proxy.ts";
export { compareVersions, olderThan } from "./versions.ts";
export { run } from "./build_folder.ts";
