/**
 * Measures several ways to do one thing, in turn, so that a machine that becomes slower slows all of them.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import process from "node:process";

/** One measurement. CPU in microseconds. */
export interface Sample {
  /** Rows, messages or bytes done. */
  readonly count: number;
  readonly seconds: number;
  readonly clientCpu?: number | undefined;
  readonly serverCpu?: number | undefined;
}

/** Several measurements combined into one. */
export function added(samples: readonly Sample[]): Sample {
  const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0);
  const cpu = (of: "clientCpu" | "serverCpu") =>
    samples.some((sample) => sample[of] === undefined) ? undefined : sum((sample) => sample[of]!);
  return {
    count: sum(({ count }) => count),
    seconds: sum(({ seconds }) => seconds),
    clientCpu: cpu("clientCpu"),
    serverCpu: cpu("serverCpu"),
  };
}

/** A way to do it. */
export interface Contender {
  readonly name: string;
  /** Whether the contenders before it have warmed it up, since it does more of the same work. */
  readonly isWarm?: boolean;
  run(): Promise<Sample> | Sample;
}

/** A contender's result in one case: medians, and ratios of its rate to the others' in the same round. */
export interface Line {
  readonly suite: string;
  readonly case: string;
  readonly name: string;
  readonly unit: string;
  readonly perSecond: number;
  /** Microseconds of CPU per unit. */
  readonly clientCpu?: number | undefined;
  readonly serverCpu?: number | undefined;
  /** The median over the rounds of this rate divided by the other's. */
  readonly ratios: Readonly<Record<string, number>>;
  /** The same ratio of the CPU of client and server, where both were measured. */
  readonly clientCpuRatios?: Readonly<Record<string, number>>;
  readonly serverCpuRatios?: Readonly<Record<string, number>>;
  /** The meaning of an additional figure, for example `MiB`. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** Where a suite runs, and how long it may take. */
export interface Bench {
  readonly quick: boolean;
  /** Measured rounds. */
  readonly rounds: number;
  /** Words of which a case's name must contain one; empty: all cases. */
  readonly only: readonly string[];
  /** Seconds that each contender works before it is measured; Bun's compilers need that long. @default {3} */
  readonly warmUp?: number;
  emit(line: Line): void;
  say(text: string): void;
}

// Garbage collection is not forced in between: V8 then discards code, and rows with ids took four times as long.

/** Runs all contenders in turn, each round beginning with another one, and emits a line for each. */
export async function compare(
  bench: Bench,
  what: { readonly suite: string; readonly case: string; readonly unit: string },
  contenders: readonly Contender[],
): Promise<void> {
  if (bench.only.length > 0 && !bench.only.some((word) => what.case.includes(word))) return;
  const { warmUp = 3 } = bench;
  // In turn: on Bun, code that did not run for seconds, because others did, is compiled again.
  const warm = contenders.map(({ isWarm }) => isWarm ? warmUp : 0);
  while (warm.some((seconds) => seconds < warmUp)) {
    for (const [i, seconds] of warm.entries()) {
      if (seconds < warmUp) warm[i] = seconds + (await contenders[i]!.run()).seconds;
    }
  }
  const samples = contenders.map((): Sample[] => []);
  for (let round = 0; round < bench.rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const which = (turn + round) % contenders.length;
      samples[which]!.push(await contenders[which]!.run());
    }
  }
  const rates = samples.map((all) => all.map(({ count, seconds }) => count / seconds));
  const clientCpu = samples.map((all) => cpuOfEach(all, "clientCpu"));
  const serverCpu = samples.map((all) => cpuOfEach(all, "serverCpu"));
  contenders.forEach(({ name }, i) => {
    const against = (values: Rounds) =>
      Object.fromEntries(contenders.flatMap((other, o) => o === i ? [] : ratioOf(other.name, values[i], values[o])));
    bench.emit({
      ...what,
      name,
      perSecond: median(rates[i]!),
      clientCpu: clientCpu[i] && median(clientCpu[i]),
      serverCpu: serverCpu[i] && median(serverCpu[i]),
      ratios: against(rates),
      clientCpuRatios: against(clientCpu),
      serverCpuRatios: against(serverCpu),
    });
  });
}

/** A value for each round of each contender, if measured. */
type Rounds = readonly (readonly number[] | undefined)[];

/** Microseconds per unit, in each round; undefined if one was not measured. */
function cpuOfEach(samples: readonly Sample[], of: "clientCpu" | "serverCpu"): readonly number[] | undefined {
  if (samples.some((sample) => sample[of] === undefined)) return undefined;
  return samples.map((sample) => sample[of]! / sample.count);
}

function ratioOf(name: string, own: Rounds[number], other: Rounds[number]): (readonly [string, number])[] {
  if (own === undefined || other === undefined) return [];
  return [[name, median(own.map((value, round) => value / other[round]!))]];
}

/**
 * Measures a synchronous function that is repeated until the time exceeds the noise. The time is the process's CPU
 * time, which other processes cannot take away.
 */
export function timed(count: number, work: () => unknown, atLeast = 0.1): Sample {
  const start = ownCpu();
  let runs = 0;
  do {
    work();
    runs++;
  } while (ownCpu() - start < atLeast * 1e6);
  return { count: count * runs, seconds: (ownCpu() - start) / 1e6 };
}

/** The median; for an even number the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Microseconds of CPU that this process has used, in all threads. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Linux counts a process's time in hundredths of a second. */
const TICK = 10_000;

/** Microseconds of CPU that another process has used; undefined without /proc. */
export function cpuOf(pid: number): number | undefined {
  try {
    // The second field is the program's name in brackets, which may contain spaces.
    const [, fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const [user, system] = fields!.split(" ").slice(11, 13).map(Number);
    return (user! + system!) * TICK;
  } catch {
    return undefined;
  }
}

/** The CPU time used between two readings; undefined without readings. */
export function since(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}

/** Measures work in which a server takes part. */
export async function withServer(serverPid: number, count: number, work: () => Promise<unknown>): Promise<Sample> {
  const server = cpuOf(serverPid);
  const client = ownCpu();
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  return { count, seconds, clientCpu: ownCpu() - client, serverCpu: since(server, cpuOf(serverPid)) };
}
