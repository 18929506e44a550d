/**
 * Says in words why a file cannot be read or written.
 *
 * @module
 */

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
  EPIPE: "its reader has gone",
  ECONNRESET: "its reader has gone",
};

/** Returns the reason in words for an error of the operating system, otherwise its code or its message. */
export function fileFault(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code === undefined ? message ?? String(error) : WORDS[code] ?? code;
}
