/**
 * Users of test servers, as lines for `config` of `startNatsServer`, and their credentials.
 *
 * @module
 */

import { encodeAccount, encodeOperator, encodeUser } from "@nats-io/jwt";
import { createAccount, createOperator, createUser, type KeyPair } from "@nats-io/nkeys";

/** Subjects that a user may publish and subscribe. */
export interface Permissions {
  /** Subjects to publish. */
  readonly publish: readonly string[];
  /** Subjects to subscribe. */
  readonly subscribe: readonly string[];
}

/** A user with a password. */
export interface PasswordUser {
  /** The name. */
  readonly username: string;
  /** The password. */
  readonly password: string;
  /** What the user may do. @default everything */
  readonly permissions?: Permissions;
}

/** Lines for users with passwords, all in the default account. */
export function passwordUsers(...users: readonly PasswordUser[]): string {
  const lines = users.map(({ username, password, permissions }) =>
    JSON.stringify({ user: username, password, ...(permissions && { permissions }) })
  );
  return `authorization { users: [\n${lines.join("\n")}\n] }`;
}

/** A line for a token. */
export function tokenAuth(token: string): string {
  return `authorization { token: ${JSON.stringify(token)} }`;
}

/** A user with an nkey, and lines for it. */
export interface NkeyUser {
  /** Lines for `config`. */
  readonly config: string;
  /** The user's seed. */
  readonly nkeySeed: string;
}

/** Creates a user that logs in by signing the server's nonce, without a JWT. */
export function nkeyUser(): NkeyUser {
  const key = createUser();
  return {
    config: `authorization { users: [ { nkey: ${key.getPublicKey()} } ] }`,
    nkeySeed: new TextDecoder().decode(key.getSeed()),
  };
}

/** The destination of a publisher that is allowed nothing else. */
export interface PublisherNeeds {
  /** The stream. */
  readonly stream: string;
  /** The subjects that rows are published to. */
  readonly subjects: readonly string[];
  /** The inbox prefix. @default {"_INBOX"} */
  readonly inboxPrefix?: string;
  /** Whether it creates the stream. @default {false} */
  readonly create?: boolean;
}

/** The permissions of a publisher: look its stream up, create it if necessary, publish, receive the answers. */
export function publisherPermissions(needs: PublisherNeeds): Permissions {
  const api = needs.create ? ["INFO", "CREATE"] : ["INFO"];
  return {
    publish: [...api.map((verb) => `$JS.API.STREAM.${verb}.${needs.stream}`), ...needs.subjects],
    subscribe: [`${needs.inboxPrefix ?? "_INBOX"}.>`],
  };
}

/** A user's JWT and its seed. */
export interface JwtUser {
  /** The JWT. */
  readonly jwt: string;
  /** The seed. */
  readonly nkeySeed: string;
  /** The user's public key. */
  readonly publicKey: string;
}

/** Options of a user of an operator. */
export interface JwtUserOptions {
  /** What the user may do. @default everything */
  readonly permissions?: Permissions;
  /** Seconds until the server disconnects the user; an integer, as in the JWT. @default never */
  readonly expiresIn?: number;
}

/** Limits of an account, as in its JWT. Absent: none. */
export interface AccountLimits {
  /** Bytes on disk. */
  readonly disk_storage?: number;
  /** Bytes in memory. */
  readonly mem_storage?: number;
  /** Streams. */
  readonly streams?: number;
}

/** An operator with one account that has JetStream. */
export interface Operator {
  /** Lines for `config`: the operator, its accounts, and a resolver in memory. */
  readonly config: string;
  /** Creates a user of the account. */
  user(options?: JwtUserOptions): Promise<JwtUser>;
}

/**
 * Creates an operator, its system account, and an account with JetStream.
 *
 * @param limits limits of the account
 * @returns lines for the server, and a function that creates users
 */
export async function makeOperator(limits: AccountLimits = {}): Promise<Operator> {
  const operator = createOperator();
  const system = createAccount();
  const account = createAccount();
  const accounts = [
    [system, await encodeAccount("SYS", system, {}, { signer: operator })],
    [account, await encodeAccount("ROWS", account, { limits: { ...UNLIMITED, ...limits } }, { signer: operator })],
  ] as const;
  const jwt = await encodeOperator("jetrow", operator, { system_account: system.getPublicKey() });
  const preload = accounts.map(([key, jwt]) => `${key.getPublicKey()}: ${jwt}`);
  return {
    config: [
      `operator: ${jwt}`,
      `system_account: ${system.getPublicKey()}`,
      `resolver: MEMORY`,
      `resolver_preload {\n${preload.join("\n")}\n}`,
    ].join("\n"),
    user: (options) => makeUser(account, options),
  };
}

/** All limits must be present: an absent one counts as zero. */
const UNLIMITED = {
  subs: -1,
  data: -1,
  payload: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1,
  mem_storage: -1,
  disk_storage: -1,
  streams: -1,
  consumer: -1,
};

async function makeUser(account: KeyPair, options: JwtUserOptions = {}): Promise<JwtUser> {
  const key = createUser();
  const { permissions, expiresIn } = options;
  const claims = permissions && {
    pub: { allow: [...permissions.publish] },
    sub: { allow: [...permissions.subscribe] },
  };
  const exp = expiresIn === undefined ? {} : { exp: Math.floor(Date.now() / 1000) + expiresIn };
  return {
    jwt: await encodeUser("user", key, account, claims ?? {}, exp),
    nkeySeed: new TextDecoder().decode(key.getSeed()),
    publicKey: key.getPublicKey(),
  };
}
