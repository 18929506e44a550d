/**
 * Explains why a file cannot be read or written.
 *
 * @module
 */

import { getSystemErrorName } from "node:util";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "a part of its path is not a directory",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "it reaches the largest file size that is allowed (ulimit -f)",
  EROFS: "the file system is read-only",
  EIO: "the device failed (EIO)",
  EMFILE: "too many files are open (ulimit -n)",
  ENFILE: "too many files are open on this machine",
  ENXIO: "it is a socket, or a device that does not exist",
  ENODEV: "the device does not exist",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "its name is too long",
  EPIPE: "its reader has closed it",
  ECONNRESET: "its reader has closed it",
};

/** Returns the reason in words for an error of the operating system, otherwise its code or its message. */
export function fileFault(error: unknown): string {
  const { message } = error as { readonly message?: string };
  const code = systemCode(error);
  return code === undefined ? message ?? String(error) : WORDS[code] ?? code;
}

/** Returns the code of an error of the operating system; undefined for another error. */
export function systemCode(error: unknown): string | undefined {
  const { code, message = "" } = error as { readonly code?: unknown; readonly message?: string };
  if (typeof code === "string") return code;
  // Deno's own errors have only the number.
  const [, number] = /\(os error (\d+)\)/.exec(message) ?? [];
  return number === undefined ? undefined : getSystemErrorName(-Number(number));
}
