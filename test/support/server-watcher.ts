// Stands between a test process and a server it started, so that the server never outlives the test: the channel to the
// parent closes even when the parent was killed with -9, and then server and data directory go.
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';

export type Command = {
  command: string;
  args: string[];
  uid?: number;
  gid?: number;
  /** Ends it at once: by then no test will read its data again. */
  quit: NodeJS.Signals;
};

export type Order = ({ do: 'start'; log: string } & Command) | { do: 'signal'; signal: NodeJS.Signals };

export type Notice = { is: 'started'; pid: number } | { is: 'exited' } | { is: 'failed'; message: string };

const QUIT_MS_MAX = 5_000;
const directory = process.argv[2];
let server: ChildProcess | null = null;
let quit: NodeJS.Signals = 'SIGKILL';

function start(order: Extract<Order, { do: 'start' }>): void {
  const log = openSync(order.log, 'a');
  const child = spawn(order.command, order.args, {
    stdio: ['ignore', log, log],
    cwd: directory,
    uid: order.uid,
    gid: order.gid,
  });
  server = child;
  quit = order.quit;
  child.on('spawn', () => tell({ is: 'started', pid: child.pid ?? 0 }));
  child.on('error', (error) => tell({ is: 'failed', message: error.message }));
  child.on('exit', () => {
    server = null;
    tell({ is: 'exited' });
    if (!process.connected) leave();
  });
}

function tell(notice: Notice): void {
  if (process.connected) process.send?.(notice);
}

function leave(): void {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  process.exit(0);
}

process.on('message', (order: Order) => {
  if (order.do === 'start') start(order);
  else server?.kill(order.signal);
});

process.on('disconnect', () => {
  if (server === null) leave();
  server?.kill(quit);
  setTimeout(() => server?.kill('SIGKILL'), QUIT_MS_MAX);
});
