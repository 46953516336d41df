import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readBoardFile } from '../../../src/features/board/runner/load-board-file.ts';
import type { BoardNews } from '../../../src/features/board/runner/news.ts';
import { startOrchestrator } from '../../../src/features/board/runner/orchestrator.ts';
import type { Client } from '../../../src/index.ts';
import { connect, open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { until } from '../../support/until.ts';

/** A board of its own in a folder, with agents as shell scripts. */
export interface BoardScene extends AsyncDisposable {
  readonly folder: string;
  readonly user: Client;
  /** Another orchestrator; it ends with the scene, or when it is stopped. */
  start(): Promise<RunningOrchestrator>;
  publish(payload: string, type?: string): Promise<JsonObject>;
  /** When nothing on the board is open any more: all claims, the first one first. */
  atRest(): Promise<JsonObject[]>;
  artefacts(): Promise<JsonObject[]>;
  /** Lines that agents wrote into `trace`. */
  trace(): string[];
}

export interface RunningOrchestrator {
  readonly news: BoardNews[];
  stop(): Promise<void>;
}

/** The file and the agents of a board in a folder. Answers where the agents leave a trace. */
export function layBoard(
  folder: string,
  yaml: string,
  scripts: Record<string, string>,
  file = 'cox.yml',
): string {
  const trace = join(folder, 'trace');
  writeFileSync(trace, '');
  writeFileSync(join(folder, file), yaml);
  for (const [name, text] of Object.entries(scripts)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\nTRACE='${trace}'\nINPUT=$(cat)\n${text}\n`);
    chmodSync(path, 0o755);
  }
  return trace;
}

/** Scripts by name; `$TRACE` is a file of the scene's. Without `#!` they are shell scripts. */
export async function boardScene(
  yaml: string,
  scripts: Record<string, string>,
  file = 'cox.yml',
): Promise<BoardScene> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-scene-')));
  const trace = layBoard(folder, yaml, scripts, file);
  const store = `sqlite:${join(folder, 'board.db')}`;
  const user = await connect({ store, agent_id: 'user', cwd: folder });
  const running = new Set<RunningOrchestrator>();
  const allClaims = async () => {
    const { claims, ended } = await user.call('board_status', { ended: true, limit: 200 });
    return { open: claims as JsonObject[], ended: (ended as JsonObject[]).reverse() };
  };
  return {
    folder,
    user,
    async start() {
      const orchestrator = await startOne(store, folder);
      running.add(orchestrator);
      return orchestrator;
    },
    publish: (payload, type = 'Goal') => user.call('publish_artefact', { type, payload }),
    atRest: () =>
      until(async () => {
        const { open: pending, ended } = await allClaims();
        return pending.length === 0 && ended;
      }),
    async artefacts() {
      const { artefacts } = await user.call('list_artefacts', { limit: 200 });
      return (artefacts as JsonObject[]).reverse();
    },
    trace: () => readFileSync(trace, 'utf8').split('\n').filter(Boolean),
    async [Symbol.asyncDispose]() {
      for (const orchestrator of running) await orchestrator.stop();
      await user.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function startOne(store: string, folder: string): Promise<RunningOrchestrator> {
  const stopping = new AbortController();
  const coxswain = await open({ store, cwd: folder });
  const read = await readBoardFile(coxswain.workspace, { env: process.env });
  if (read === undefined || 'success' in read) throw new Error(JSON.stringify(read));
  const { gitCommonDir, root } = coxswain.workspace;
  const news: BoardNews[] = [];
  const started = await startOrchestrator({
    coxswain,
    config: read.config,
    places: {
      runs: join(folder, 'runs'),
      folder: read.config.folder,
      repository: gitCommonDir === undefined ? undefined : root,
      env: process.env,
    },
    news: (each) => news.push(each),
    signal: stopping.signal,
  });
  if ('success' in started) throw new Error(started.message);
  return {
    news,
    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      await started.done;
      await coxswain.close();
    },
  };
}

/** What an agent prints. */
export function says(type: string, payload: string, structural_type?: string): string {
  const answer = { artefact_type: type, artefact_payload: payload, summary: `${type} made`, structural_type };
  return `printf '%s\\n' '${JSON.stringify(answer)}'`;
}
