/**
 * How errors are known without their classes.
 *
 * @module
 */

/** The mark by which errors of another copy of the package are known. */
export const MARK: unique symbol = Symbol.for("jetrow.error");
