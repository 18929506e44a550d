/** Runs the suite in a page of the test's own server, bundled. */

import * as web from "../../src/runtime/web.ts";
import { conform } from "./suite.ts";

await conform(web, location.href);
