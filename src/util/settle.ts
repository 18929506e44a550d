/**
 * Calls whose failure must not prevent later work.
 *
 * @module
 */

/** Calls `work` and awaits its result. Ignores what it throws and a rejection of what it returns. */
export async function settle(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // The caller reports its own error, or none.
  }
}
