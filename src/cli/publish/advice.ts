/**
 * Advises what to do after a run of `jetrow publish` that ended early.
 *
 * @module
 */

import { isJetrowError } from "../../errors/mod.ts";
import { OutputError } from "../io.ts";
import { JournalError } from "../journal/error.ts";
import type { PublishPlan } from "./options.ts";

/** A run that ended early. */
export interface EndedRun {
  /** What it was to publish. */
  readonly plan: PublishPlan;
  /** Whether rows of it may have reached the server. */
  readonly sent: boolean;
  /** The interrupt. */
  readonly signal: AbortSignal;
}

/** Returns whether a stream was deleted meanwhile: its acknowledged rows are gone, and no run can continue. */
export function isStreamChanged(error: unknown): boolean {
  return isJetrowError(error) && error.code === "publish.stream_changed";
}

/** Returns lines of advice: how to continue, if another run can. */
export function adviceFor(error: unknown, { plan, sent, signal }: EndedRun): string[] {
  if (isStreamChanged(error)) {
    return ["publish all rows again, without --resume: the stream drops rows with ids that it has already stored"];
  }
  const { receipt, resume, retry } = plan;
  const isLost = isJetrowError(error) && (error.name === "ConnectionError" || error.code === "publish.disconnected");
  const isFailure = isJetrowError(error) && (isLost || error.name === "PublishError");
  const canContinue = signal.aborted || isFailure || error instanceof OutputError || error instanceof JournalError;
  if (!sent || !canContinue) return [];
  const advice: string[] = [];
  if (isLost && retry === undefined) advice.push("--retry DURATION reconnects and continues by itself");
  const journal = resume ?? receipt;
  if (journal !== undefined) {
    return [...advice, `to continue, run again with --resume ${journal} and the same inputs and options`];
  }
  return [
    ...advice,
    "publishing again sends every row: within its duplicate window, the stream drops rows with ids that it has stored",
    "start with --receipt FILE to keep a journal, so that --resume FILE can continue a run that ends early",
  ];
}
