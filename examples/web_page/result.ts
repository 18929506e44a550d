/** Shows how publishing ended. */

import { type AnyJetrowError, isJetrowError, type RunReceipt } from "@jetrow/jetrow/web";
import { element, number } from "./dom.ts";

interface Result {
  readonly title: string;
  readonly text?: string;
  readonly advice?: string;
  readonly facts?: Readonly<Record<string, string>>;
}

/** Shows the receipt when every row is acknowledged. */
export function showReceipt({ rows, bytes, duplicates = 0, resources }: RunReceipt, ms: number): void {
  const known = duplicates === 0 ? "" : ` ${number(duplicates)} of them the stream had already.`;
  show("done", {
    title: "Published",
    text: `The server has acknowledged all ${number(rows)} rows.${known}`,
    facts: {
      Stream: [...new Set(resources.map(({ stream }) => stream))].join(", "),
      Resource: resources.map(({ resource }) => resource).join(", "),
      Rows: number(rows),
      Duplicates: number(duplicates),
      JSON: `${number(bytes / 1e6, 1)} MB`,
      Time: `${number(ms / 1000, 1)} s`,
    },
  });
}

/** Shows a failure: jetrow's message, who can fix it, and the outcome of the rows. */
export function showError(error: unknown): void {
  if (!isJetrowError(error)) return show("failed", { title: "Not published", text: String(error) });
  show("failed", {
    title: titleOf(error),
    text: error.message,
    advice: adviceOf(error),
    facts: {
      ...(error.name === "PublishError" ? rowsOf(error.rowOutcomes.counts) : {}),
      Code: error.code,
    },
  });
}

function titleOf(error: AnyJetrowError): string {
  if (error.code === "publish.aborted") return "Cancelled";
  return error.name === "PublishError" ? "Not all rows are published" : "Not published";
}

function adviceOf(error: AnyJetrowError): string {
  switch (error.code) {
    case "connection.permission":
      return "Nothing was sent. The user lacks a permission: sign in with an inbox prefix that it may subscribe to, or as another user.";
    case "connection.auth":
      return "Nothing was sent. Check user and password.";
    case "publish.permission":
      return "The user may not publish there. Change the subject, or sign in as another user.";
  }
  switch (error.name) {
    case "ConfigError":
      return "Nothing was sent. Change the destination and try again.";
    case "ConnectionError":
      return "Nothing was sent. Is the server there, does it listen for WebSockets, and may this page connect to it?";
    case "RouteError":
      return "Nothing was sent. Change the destination, or the stream.";
    case "EncodeError":
      return "The file has to be changed. Rows before this one may have been sent.";
    case "PublishError":
      return "Publish the file again: rows with an event id are stored once, all others may be stored twice.";
    case "StateError":
      return "";
  }
}

function rowsOf(counts: Readonly<Record<string, number>>): Record<string, string> {
  const words = {
    acked: "Stored",
    duplicate: "Stored before",
    rejected: "Refused",
    unknown: "Fate unknown",
    unsent: "Not sent",
  };
  return Object.fromEntries(Object.entries(words).map(([key, word]) => [word, number(counts[key] ?? 0)]));
}

function show(how: "done" | "failed", { title, text = "", advice = "", facts = {} }: Result): void {
  const section = element("result");
  section.className = how;
  element("result-title").textContent = title;
  element("result-text").textContent = text;
  element("result-advice").textContent = advice;
  element("result-facts").replaceChildren(
    ...Object.entries(facts).flatMap(([term, fact]) => {
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      dt.textContent = term;
      dd.textContent = fact;
      return [dt, dd];
    }),
  );
  section.hidden = false;
  element("result-title").focus(); // read aloud by screen readers, and scrolled to
}
