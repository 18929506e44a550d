/**
 * The state machine of a session's epochs. Pure functions.
 *
 * @module
 */

/** The state of a session. */
export type EpochState =
  | { readonly kind: "idle"; readonly committed: number | undefined }
  | { readonly kind: "active"; readonly epoch: number; readonly committed: number | undefined }
  | { readonly kind: "committing"; readonly epoch: number; readonly committed: number | undefined }
  | { readonly kind: "closed" };

/** The effect of a call: a next state, none for a repeated call, or the error of a wrong one. */
export type EpochStep =
  | { readonly kind: "go"; readonly state: EpochState }
  | { readonly kind: "repeat" }
  | { readonly kind: "mismatch"; readonly rule: string };

/** The state of a session that was just opened. */
export const OPENED: EpochState = Object.freeze({ kind: "idle", committed: undefined });

const mismatch = (rule: string): EpochStep => ({ kind: "mismatch", rule });

/** Begins an epoch. The first may be any positive one, later ones follow the last committed one. */
export function begin(state: EpochState, epoch: number): EpochStep {
  if (!Number.isSafeInteger(epoch) || epoch < 1) return mismatch("an epoch is a positive whole number");
  if (state.kind === "closed") return mismatch("the session is closed");
  if (state.kind !== "idle") return mismatch(`epoch ${state.epoch} is active: one epoch at a time`);
  if (state.committed !== undefined && epoch !== state.committed + 1) {
    return mismatch(`the next epoch is ${state.committed + 1}`);
  }
  return { kind: "go", state: { kind: "active", epoch, committed: state.committed } };
}

/** Returns whether rows may be applied to an epoch: only to the active one. */
export function apply(state: EpochState, epoch: number): EpochStep {
  if (state.kind === "active" && state.epoch === epoch) return { kind: "go", state };
  return mismatch(activeRule(state));
}

/**
 * Begins to commit the active epoch. While no epoch is active, committing the last committed one again has no effect.
 */
export function commit(state: EpochState, epoch: number): EpochStep {
  if (state.kind === "active" && state.epoch === epoch) {
    return { kind: "go", state: { kind: "committing", epoch, committed: state.committed } };
  }
  if (state.kind === "committing" && state.epoch === epoch) return { kind: "repeat" };
  if (state.kind === "idle" && state.committed !== undefined && state.committed === epoch) return { kind: "repeat" };
  return mismatch(activeRule(state));
}

/** Ends a commit when the calls in progress have succeeded. */
export function committed(state: EpochState): EpochState {
  return state.kind === "committing" ? { kind: "idle", committed: state.epoch } : state;
}

/** Drops the active epoch. Has no effect if no epoch is active. */
export function abort(state: EpochState, epoch: number): EpochStep {
  if (state.kind === "idle") return { kind: "repeat" };
  if (state.kind !== "closed" && state.epoch === epoch) {
    return { kind: "go", state: { kind: "idle", committed: state.committed } };
  }
  return mismatch(activeRule(state));
}

function activeRule(state: EpochState): string {
  switch (state.kind) {
    case "closed":
      return "the session is closed";
    case "idle":
      return state.committed === undefined
        ? "no epoch is active"
        : `no epoch is active, and ${state.committed} is the last committed`;
    case "active":
      return `epoch ${state.epoch} is active`;
    case "committing":
      return `epoch ${state.epoch} is being committed`;
  }
}
