import type { Invocation } from './wgl.ts';

/** One line that a worker prints: a call before it is made, an answer when it is there. */
type Line<I, O> =
  | { readonly call: number; readonly at: string; readonly key: string; readonly input: I }
  | { readonly answer: number; readonly at: string; readonly output: O };

/** CLOCK_MONOTONIC: one clock for all processes of the machine, and it is never set. */
function now(): string {
  return String(process.hrtime.bigint());
}

let calls = 0;

/**
 * Printed to a pipe, which is synchronous: a call that was made is known even if the process is killed in it. A call
 * of which the caller can't know the outcome (`undefined`) has no answer and stays open.
 */
export async function record<I, O>(
  key: string,
  input: I,
  run: () => Promise<O | undefined>,
): Promise<O | undefined> {
  calls += 1;
  const call = calls;
  process.stdout.write(`${JSON.stringify({ call, key, input, at: now() })}\n`);
  const output = await run();
  const at = now();
  if (output !== undefined) process.stdout.write(`${JSON.stringify({ answer: call, at, output })}\n`);
  return output;
}

/** The histories of several processes, sorted out by what they are about. */
export function merge<I, O>(
  lines: ReadonlyMap<string, readonly string[]>,
  prefix: string,
): Map<string, Invocation<I, O>[]> {
  const histories = new Map<string, Invocation<I, O>[]>();
  for (const [process, printed] of lines) {
    const parsed = printed.map((line) => JSON.parse(line) as Line<I, O>);
    const answers = new Map(
      parsed.flatMap((line) => ('answer' in line ? [[line.answer, line] as const] : [])),
    );
    for (const line of parsed) {
      if (!('call' in line) || !line.key.startsWith(prefix)) continue;
      const answer = answers.get(line.call);
      const history = histories.get(line.key) ?? [];
      histories.set(line.key, history);
      const returned = answer === undefined ? undefined : BigInt(answer.at);
      history.push({ process, input: line.input, output: answer?.output, called: BigInt(line.at), returned });
    }
  }
  return histories;
}
