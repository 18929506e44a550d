/**
 * The error of options and arguments.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { ConfigErrorCode } from "./codes.ts";
import { render, type Wording, words } from "./wording.ts";

/** The rule of each error, before it was rendered. */
const rules = new WeakMap<ConfigError, string | Wording>();

/** The parts of a {@linkcode ConfigError}. */
export interface ConfigErrorParts {
  /** The option as the caller wrote it: snake_case from a document, camelCase from options. */
  readonly field: string;
  /** The rule that is broken: the rest of a sentence that begins with the field. */
  readonly rule: string | Wording;
  /** The value received, described; absent if it may be a secret or if there is none. */
  readonly received?: string | undefined;
  /** What the message begins with. Default: the field. */
  readonly subject?: string | Wording;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The options or the arguments of a call are wrong: the caller fixes them. Wrong options are found before anything is
 * dialled, looked up or sent; a wrong batch (`only`, an unknown key) is found before any of its rows is sent.
 *
 * @example
 * ```ts
 * import { ConfigError } from "@jetrow/jetrow/errors";
 * import { parseConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * try {
 *   parseConfig({ url: "nats://localhost", stream: "ORDERS", subject: "orders", max_in_flight: 0 });
 * } catch (error) {
 *   assert.ok(error instanceof ConfigError);
 *   assert.deepEqual([error.field, error.received], ["max_in_flight", "0"]);
 * }
 * ```
 */
export class ConfigError extends JetrowError {
  /** Always `"ConfigError"`. */
  override readonly name = "ConfigError" as const;
  /** What is wrong with the option. */
  override readonly code: ConfigErrorCode;
  /** The option as the caller wrote it. */
  readonly field: string;
  /** The rule that is broken: the rest of a sentence that begins with the field. */
  readonly rule: string;
  /** The value received, described; absent if it may be a secret or if there is none. */
  readonly received: string | undefined;

  /** @internal */
  constructor(code: ConfigErrorCode, { field, rule, received, subject = field, ...options }: ConfigErrorParts) {
    super(words`${subject} ${rule}${received === undefined ? "" : `: received ${received}`}`, options);
    this.code = code;
    this.field = field;
    this.rule = render(rule);
    this.received = received;
    rules.set(this, rule);
  }
}

/** Renders the rule of an error with other names for options. */
export function renderRule(error: ConfigError, nameOf: (option: string) => string): string {
  return render(rules.get(error) ?? error.rule, nameOf);
}
