// One line per test file while all is well, everything about what is not, and node's own summary at the end.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

const OUTPUT_CHARS_MAX = 20_000;
const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

type Failure = Extract<TestEvent, { type: 'test:fail' }>['data'];

/** A suite or file that fails only because a test inside it did has nothing of its own to say. */
function isEcho(failure: Failure): boolean {
  const error: Error & { failureType?: string } = failure.details.error;
  return error.failureType === 'subtestsFailed';
}

function titleOf(failure: Failure): string {
  const where = failure.file === undefined ? '' : ` (${relative('.', failure.file)}:${failure.line ?? 0})`;
  return `✖ ${failure.name}${where}\n`;
}

function describe(failure: Failure): string {
  const why = failure.details.error.cause ?? failure.details.error;
  // An assertion's message already shows the difference; inspecting it would print both sides a second time.
  const text = why instanceof Error && why.name === 'AssertionError' ? why.stack : inspect(why, { depth: 8 });
  return `\n${titleOf(failure)}${text}\n`;
}

/** For the process that started this one: it may run the failed files a second time. */
function noteFailed(file: string): void {
  const list = process.env.COX_TEST_FAILED;
  if (list !== undefined) appendFileSync(list, `${file}\n`);
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const output = new Map<string, string>();
  const failures: string[] = [];
  for await (const event of events) {
    if (event.type === 'test:stdout' || event.type === 'test:stderr') {
      const { file = '', message } = event.data;
      output.set(file, ((output.get(file) ?? '') + message).slice(-OUTPUT_CHARS_MAX));
    }
    if (event.type === 'test:fail' && !isEcho(event.data)) {
      failures.push(titleOf(event.data));
      yield describe(event.data);
    }
    if (event.type === 'test:summary' && event.data.file !== undefined) {
      const { file, success, counts, duration_ms } = event.data;
      const line = `${relative('.', file)}: ${counts.passed} of ${counts.tests} in ${(duration_ms / 1000).toFixed(1)} s`;
      if (!success) noteFailed(relative('.', file));
      yield success ? `✔ ${line}\n` : `✖ ${line}\n${output.get(file) ?? ''}`;
      output.delete(file);
    }
    if (event.type === 'test:diagnostic' && event.data.nesting === 0 && SUMMARY.test(event.data.message)) {
      if (event.data.message.startsWith('tests ') && failures.length > 0) {
        yield `\n${failures.length} failed:\n${failures.join('')}`;
      }
      yield `# ${event.data.message}\n`;
    }
  }
}
