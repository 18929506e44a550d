/**
 * Calls whose failure must not stop what comes after them.
 *
 * @module
 */

/** Calls `work` and awaits its result. Ignores what it throws and a rejection of what it returns. */
export async function settle(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // The caller has an error of its own to report, or none.
  }
}
