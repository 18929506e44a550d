/**
 * Where rows go, as their messages need to know it: names, limits, and the header blocks that are the same for all
 * rows but for the id.
 *
 * @module
 */

import type { IdScope, SubjectEscape } from "../types/mod.ts";
import { rowPlaceholders, type TemplatePart } from "../subject/template.ts";
import { type HeaderBlock, headerBlock } from "./headers.ts";
import { OPERATIONS } from "./operations.ts";

/** What a destination's messages have in common. */
export interface TargetFields {
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** The publish subject; or, if the rows have their own, the pattern of all of them. */
  readonly subject: string;
  /** The parts of a subject that contains values of a row. */
  readonly rowSubject?: readonly TemplatePart[] | undefined;
  /** How these values are escaped. @default {"none"} */
  readonly subjectEscape?: SubjectEscape | undefined;
  /**
   * Throws a RouteError if the stream does not capture a row's subject. Absent if it captures all that the pattern does.
   */
  readonly checkCaptured?: ((subject: string, row: number) => void) | undefined;
  /** Header block and payload together, at most: the smaller of the connection's and the stream's limit. */
  readonly maxMessageBytes: number;
  /** Whose limit that is, for error messages. */
  readonly limitedBy: string;
  /** Header block, payload and subject together, at most. */
  readonly maxInFlightBytes: number;
  /** Bytes of the reply subject, at most. */
  readonly replyBytes: number;
  /** What ids stand for beside the event id. */
  readonly scope: IdScope;
  /** Whether `Nats-Expected-Stream` is sent. */
  readonly expectedStream: boolean;
  /** `Nats-TTL`, where it is sent. */
  readonly ttl?: string | undefined;
  /** Whether content type, operation and expected stream are sent. @default {true} */
  readonly standardHeaders?: boolean | undefined;
  /** `Content-Type`. @default {"application/json"} */
  readonly contentType?: string | undefined;
  /** The caller's headers, with their values as sent or as templates. */
  readonly headers: readonly (readonly [string, string])[];
  /**
   * Bytes of headers that a row's place adds, where the rows of a call are stored as one batch: such a batch is
   * outstanding as a whole, and stores an id once.
   */
  readonly batchHeaderBytes?: ((index: number, last: boolean) => number) | undefined;
}

/** A header block's variant: the operation's code, and whether it has an id. */
export function variantOf(operation: number, withId: boolean): number {
  return operation * 2 + (withId ? 1 : 0);
}

/** A destination as messages see it. */
export class MessageTarget {
  /** The names and limits. */
  readonly fields: TargetFields;
  /** The subject in UTF-8; the pattern if the rows have their own. */
  readonly subjectBytes: Uint8Array;
  /** The headers that are lines of a row: from the first one with a row's value on. */
  readonly rowHeaders: TargetFields["headers"];
  readonly #blocks: (HeaderBlock | undefined)[] = [];

  /** A target; its header blocks are made when first needed. */
  constructor(fields: TargetFields) {
    this.fields = fields;
    this.subjectBytes = new TextEncoder().encode(fields.subject);
    const first = fields.headers.findIndex(([, value]) => rowPlaceholders(value).length > 0);
    this.rowHeaders = first < 0 ? [] : fields.headers.slice(first);
  }

  /** The header block of a variant. */
  block(variant: number): HeaderBlock {
    return this.#blocks[variant] ??= headerBlock({
      operation: OPERATIONS[variant >> 1]!,
      withId: (variant & 1) === 1,
      expectedStream: this.fields.expectedStream ? this.fields.stream : undefined,
      ttl: this.fields.ttl,
      standard: this.fields.standardHeaders,
      mayBeEmpty: this.rowHeaders.length === 0 && this.fields.batchHeaderBytes === undefined,
      contentType: this.fields.contentType,
      headers: this.fields.headers.slice(0, this.fields.headers.length - this.rowHeaders.length),
    });
  }
}
