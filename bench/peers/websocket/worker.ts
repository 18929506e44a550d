/** Publishes in workerd: one request per job. */

import { publishOnce } from "./work.ts";

/** The worker's handlers; workerd finds them as the default export. */
const worker = {
  async fetch(request: Request): Promise<Response> {
    await publishOnce(await request.json());
    return Response.json("done");
  },
};

export { worker as default };
