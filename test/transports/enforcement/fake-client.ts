/** Stands for an agent client: takes a lock as its MCP server would, then runs a command in a shell. */
import { spawnSync } from 'node:child_process';
import { clientIdentity } from '../../../src/child-process/client-process.ts';
import { acquireLock } from '../../../src/features/locks/operations/acquire-lock-operation.ts';
import { open } from '../../../src/index.ts';

const [client = '', file_path = '', command = ''] = process.argv.slice(2);
const identity = clientIdentity(client, undefined, process.pid);
if (identity === undefined) throw new Error('no process of this number');
const coxswain = await open({ cwd: process.cwd(), env: {} });
const answer = await coxswain.connect(identity).perform(acquireLock, { file_path });
await coxswain.close();
if (answer.success !== true) throw new Error(JSON.stringify(answer));
process.exitCode = spawnSync('sh', ['-c', `${command}; exit $?`], { stdio: 'inherit' }).status ?? 1;
