// An orchestrator in a process of its own, to be killed: the configuration's file and the store are its arguments. Prints its news.
import { join } from 'node:path';
import { readBoardFile } from '../../../src/features/board/runner/load-board-file.ts';
import { startOrchestrator } from '../../../src/features/board/runner/orchestrator.ts';
import { open } from '../../../src/index.ts';

const { store, folder } = JSON.parse(process.argv[2] ?? '{}') as { store: string; folder: string };
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const coxswain = await open({ store, cwd: folder, sits: true });
const read = await readBoardFile(coxswain.workspace);
if (read === undefined || 'success' in read) throw new Error(JSON.stringify(read ?? 'no file'));
const started = await startOrchestrator({
  coxswain,
  config: read.config,
  places: {
    runs: join(folder, 'runs'),
    folder: read.config.folder,
    repository: coxswain.workspace.gitCommonDir === undefined ? undefined : coxswain.workspace.root,
    env: process.env,
  },
  news: (news) => console.log(JSON.stringify(news)),
  signal: stopping.signal,
});
if ('success' in started) throw new Error(started.message);
await started.done;
await coxswain.close();
