/**
 * Arrow data: made from values, at random, and read back.
 *
 * Files that are bundled for a browser or workerd import single files, not this index.
 *
 * @module
 */

export { allMakers, anyBatch, anyMaker, type MadeBatch, madeBatch, sliceMade } from "./arbitraries.ts";
export {
  batchOf,
  type Column,
  demoBatch,
  demoTable,
  idBatch,
  intColumn,
  numberBatch,
  scramble,
  sizedBatch,
  tableOf,
  textColumn,
  wideBatch,
} from "./batches.ts";
export { type DataParts, makeColumn, offsetsOf } from "./columns.ts";
export { renderIntegrationJson } from "./integration_json.ts";
export { fixedMakers, type Maker } from "./makers.ts";
export { dictionary, fixedList, largeList, list, pairMap, struct, textMap, union } from "./nested_makers.ts";
export { floatText } from "./plain_json.ts";
export { arrowReaders, bodies, bodyStrings, isMisread, readFlechette, refusalOf } from "./readers.ts";
export { textMakers, utf8 } from "./text_makers.ts";
