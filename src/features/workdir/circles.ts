import { compare, type TaskFile } from './task-file.ts';

const NAMES_MAX = 8;

type Graph = ReadonlyMap<string, readonly string[]>;

/** Tasks that wait for each other in a circle, each with its path. A task that has been assigned no longer waits. */
export function circlesAmong(inbox: readonly TaskFile[]): Map<string, string> {
  const waiting = new Set(inbox.map(({ task }) => task.id));
  const graph = new Map(
    inbox.map(({ task }) => [task.id, task.dependencies.filter((id) => waiting.has(id))] as const),
  );
  const found = new Map<string, string>();
  for (const knot of knotsOf(graph)) {
    const [start = ''] = knot.toSorted(compare);
    if (knot.length === 1 && graph.get(start)?.includes(start) !== true) continue;
    const way = wayRound(graph, start, new Set(knot));
    const shown = way.length > NAMES_MAX ? [...way.slice(0, NAMES_MAX - 2), '…', start] : way;
    for (const id of knot) found.set(id, shown.join(' → '));
  }
  return found;
}

/** The shortest path from a task back to itself. */
function wayRound(graph: Graph, start: string, knot: ReadonlySet<string>): string[] {
  const before = new Map<string, string>();
  const line = [start];
  for (const id of line)
    for (const next of graph.get(id) ?? []) {
      if (!knot.has(next) || before.has(next)) continue;
      before.set(next, id);
      line.push(next);
    }
  const way = [start];
  for (let id = before.get(start); id !== undefined && id !== start; id = before.get(id)) way.push(id);
  return [...way, start].reverse();
}

interface Step {
  readonly id: string;
  readonly next: Iterator<string>;
}

/**
 * Groups in which every task can be reached from every other task. This is Tarjan's algorithm without
 * recursion: a chain of ten thousand tasks must not overflow the stack, and each task is looked at once.
 */
function knotsOf(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const knots: string[][] = [];
  const enter = (id: string): Step => {
    order.set(id, order.size);
    lowest.set(id, order.size - 1);
    open.push(id);
    isOpen.add(id);
    return { id, next: (graph.get(id) ?? [])[Symbol.iterator]() };
  };
  const lower = (id: string, to = 0) => lowest.set(id, Math.min(lowest.get(id) ?? to, to));
  for (const root of graph.keys()) {
    const way = order.has(root) ? [] : [enter(root)];
    for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
      const { id } = step;
      const { value, done } = step.next.next();
      if (done !== true) {
        if (!order.has(value)) way.push(enter(value));
        else if (isOpen.has(value)) lower(id, order.get(value));
        continue;
      }
      way.pop();
      const above = way.at(-1);
      if (above !== undefined) lower(above.id, lowest.get(id));
      if (lowest.get(id) !== order.get(id)) continue;
      const knot = open.splice(open.lastIndexOf(id));
      for (const member of knot) isOpen.delete(member);
      knots.push(knot);
    }
  }
  return knots;
}
