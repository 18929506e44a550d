/** Runs the suite in a worker, bundled: one request of `/?control=http://127.0.0.1:<control>`. */

import * as web from "../../src/runtime/web.ts";
import { conform } from "./suite.ts";

/** The worker's handlers; workerd finds them as the default export. */
const worker = {
  async fetch(request: Request): Promise<Response> {
    return Response.json(await conform(web, new URL(request.url).searchParams.get("control")!));
  },
};

export { worker as default };
