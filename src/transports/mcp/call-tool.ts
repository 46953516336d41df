import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { systemClock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { refuse } from '../../kernel/refusal.ts';
import { verdictOf } from '../../runtime/answer.ts';
import type { CallOptions } from '../../runtime/coordinator-context.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { refuseDepth } from '../shared/json-depth.ts';
import { secondsWaited } from '../shared/waited.ts';

/**
 * A client that hears nothing for a minute gives a call up as dead; one that gets progress goes on waiting.
 */
const PROGRESS_EVERY_MS = 10_000;

export type Perform = (
  operation: AnyOperation,
  input: unknown,
  clientName: string | undefined,
  options: CallOptions,
) => Promise<JsonObject>;

/** One tool call: refused, performed, waited for, and its answer in the protocol's form. */
export async function callTool(
  operation: AnyOperation,
  input: Record<string, unknown>,
  context: ServerContext,
  perform: (options: CallOptions) => Promise<JsonObject>,
) {
  const tooDeep = refuseDepth(input);
  if (tooDeep !== undefined) return toResult(tooDeep);
  const waited = secondsWaited(operation, input);
  const progress = operation.waits === undefined ? undefined : reportWaiting(context, waited);
  try {
    const signal = waited > 0 ? goneSignal(context) : context.mcpReq.signal;
    return toResult(await perform({ signal, onWaiting: progress?.tell }));
  } finally {
    progress?.end();
  }
}

/**
 * Cancelled, or disconnected: over HTTP an answer can't be fetched later, so no client would ever read it.
 */
function goneSignal({ mcpReq, http }: ServerContext): AbortSignal {
  const hungUp = http?.req?.signal;
  return hungUp === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, hungUp]);
}

/** A waiting call also gives up when the whole server closes. */
export function untilEither(
  operation: AnyOperation,
  input: unknown,
  options: CallOptions,
  { signal: closing }: AbortController,
): CallOptions {
  if (secondsWaited(operation, input) === 0) return options;
  const signal = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing]);
  return { ...options, signal };
}

/** For a client that asked for progress: what it waits for, when that changes and from time to time. */
function reportWaiting({ mcpReq }: ServerContext, total: number) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  const started_ms = systemClock.elapsed_ms();
  let message = '';
  let progress = 0;
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    // It must grow with every notification, even within the same millisecond.
    progress = Math.max(progress + 0.001, Math.round(systemClock.elapsed_ms() - started_ms) / 1000);
    const params = { progressToken, progress, total: Math.max(total, progress), message };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  return {
    tell: (why: JsonObject) => {
      message = typeof why.message === 'string' ? why.message : 'waiting';
      timer ??= setInterval(report, PROGRESS_EVERY_MS);
      report();
    },
    end: () => clearInterval(timer),
  };
}

/**
 * "No" is a result like any other: the agent is to read it and go on. An error is what the agent did wrong,
 * or what kept us from answering. So clients that count or retry errors do so only for those.
 */
function toResult(answer: JsonObject) {
  const verdict = verdictOf(answer);
  const isError = verdict !== 'done' && verdict !== 'refused';
  // Parsed again, it is plain data without undefined fields, as the protocol's schema requires.
  const text = JSON.stringify(answer);
  return {
    content: [{ type: 'text' as const, text }],
    structuredContent: JSON.parse(text) as Record<string, unknown>,
    ...(isError ? { isError } : {}),
  };
}

export function unknownTool(name: string, known: readonly string[]): ProtocolError {
  const [near] = nearest(name, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const refusal = refuse(
    'unknown_operation',
    `There is no tool ${JSON.stringify(name.slice(0, 100))} here.${hint}`,
  );
  return new ProtocolError(ProtocolErrorCode.InvalidParams, refusal.message, refusal);
}
