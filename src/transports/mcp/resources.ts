import { ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { operationsByName } from '../../runtime/operation-list.ts';

interface Declared {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: string;
  readonly input: JsonObject;
  /**
   * Whether a committed row can have changed what reading shows. Time alone triggers no notification: a lock
   * that expires is not a row.
   */
  changedBy(row: LogEntry): boolean;
}

const ofKind = (kind: string) => (row: LogEntry) => row.events.some((event) => event.kind === kind);

/**
 * Each is one question that a client can ask without a tool; one whose operation does not exist is not
 * offered.
 */
const RESOURCES: readonly Declared[] = [
  {
    uri: 'locks://current',
    name: 'locks',
    title: 'Current locks',
    description: 'Who holds or waits for which files, why and until when.',
    operation: 'check_locks',
    input: {},
    changedBy: ofKind('lock'),
  },
  {
    uri: 'work://pending',
    name: 'work',
    title: 'Pending work',
    description: 'Tasks that are ready, in the order they are handed out, and those claimed or delayed.',
    operation: 'list_work',
    input: {},
    changedBy: ofKind('task'),
  },
  {
    uri: 'handoffs://recent',
    name: 'handoffs',
    title: 'Recent hand-offs',
    description: 'What agents that ended their session left for the next one.',
    operation: 'read_handoff',
    input: {},
    changedBy: ofKind('handoff'),
  },
  {
    uri: 'profiles://current',
    name: 'profile',
    title: 'Your profile',
    description: 'What you may do, your trust level, your limits and how much of them is used.',
    operation: 'get_my_profile',
    input: {},
    changedBy: (row) => row.events.some(({ kind }) => kind === 'rulebook' || kind === 'usage'),
  },
  {
    uri: 'audit://recent',
    name: 'audit',
    title: 'Recent audit rows',
    description: 'Who asked for what, and what came of it.',
    operation: 'query_audit',
    input: {},
    // Reading the audit trail adds a row to it. A client that reads on every notification would never stop.
    changedBy: (row) => row.operation !== 'query_audit',
  },
];

export interface OfferedResource {
  readonly operation: AnyOperation;
  readonly input: JsonObject;
  readonly resource: Resource;
  changedBy(row: LogEntry): boolean;
}

export function offerResources(byName = operationsByName): OfferedResource[] {
  return RESOURCES.flatMap(({ operation: wanted, input, changedBy, ...about }) => {
    const operation = byName.get(wanted);
    const resource = { ...about, mimeType: 'application/json' };
    return operation === undefined ? [] : [{ operation, input, resource, changedBy }];
  });
}

/** A resource read can only say "no" with an error. */
export function toContents(uri: string, answer: JsonObject) {
  if (isRefusal(answer)) throw new ProtocolError(ProtocolErrorCode.InternalError, answer.message, answer);
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(answer) }] };
}
