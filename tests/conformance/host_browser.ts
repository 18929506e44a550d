/**
 * Run by Node: opens a page in Chromium until the suite has reported. `host_browser.ts <playwright> <chromium>
 * <control>`
 */

import process from "node:process";

const [playwright, executablePath, control] = process.argv.slice(2);
/** No network use of Chromium's own, and no sandbox, since test machines run as root. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const { chromium } = await import(playwright!);
const browser = await chromium.launch({ executablePath, args });
try {
  const page = await browser.newPage();
  const failed = new Promise((_, reject) => page.on("pageerror", reject));
  const reported = page.waitForResponse(`${control}/results`, { timeout: 90_000 });
  await page.goto(control);
  await Promise.race([reported, failed]);
} finally {
  await browser.close();
}
