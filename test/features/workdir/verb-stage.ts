import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { coordinate } from '../../../src/features/workdir/folder/pass.ts';
import { DEFAULT_WORKDIR } from '../../../src/features/workdir/workdir-settings.ts';
import { open } from '../../../src/index.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Authority } from '../../../src/runtime/operation.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

export const NOW_MS = Date.UTC(2026, 2, 1, 9, 30);

export interface Speaker {
  call(operation: string, input?: JsonObject): Promise<JsonObject>;
}

/** A repository with a work directory for coder and reviewer, and a time that goes on by a minute when it is told to. */
export async function verbStage({
  env = {},
  root = 'work',
}: {
  env?: NodeJS.ProcessEnv;
  root?: string;
} = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-verbs-')));
  const work = join(folder, root);
  for (const name of ['inbox', 'assigned/coder', 'assigned/reviewer'])
    mkdirSync(join(work, name), { recursive: true });
  let now_ms = NOW_MS;
  let onNow = () => {};
  const clock: Clock = {
    ...systemClock,
    now_ms: () => {
      onNow();
      return now_ms;
    },
  };
  const coxswain = await open({ store: 'memory:', cwd: folder, clock, env, presence: 'off' });
  return {
    folder,
    work,
    /** Called at every look at the clock: what other processes do at that moment. */
    meanwhile(act: () => void) {
      onNow = act;
    },
    later(minutes: number) {
      now_ms += minutes * 60_000;
    },
    as(agent_id: string, authority: Authority = 'operator', agent_role?: string): Speaker {
      const connection = coxswain.connect({ agent_id }, authority, { agent_role });
      return {
        async call(name, input = {}) {
          const operation = operationsByName.get(name);
          if (operation === undefined) throw new Error(`no operation ${name}`);
          return await connection.perform(operation, input);
        },
      };
    },
    put(path: string, text: string) {
      mkdirSync(dirname(join(work, path)), { recursive: true });
      writeFileSync(join(work, path), text);
    },
    read: (path: string) => readFileSync(join(work, path), 'utf8'),
    /** Everything below the root but reports and logs. */
    files: () =>
      readdirSync(work, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !/collaboration|logs/.test(entry.parentPath))
        .map(({ parentPath, name }) => join(parentPath, name).slice(work.length + 1))
        .sort(),
    pass: async () => await coordinate({ root: work, now_ms, settings: DEFAULT_WORKDIR }),
    async [Symbol.asyncDispose]() {
      await coxswain.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As a person writes it by hand, with remarks of their own. */
export function taskText(id: string, more: Record<string, string> = {}): string {
  const { agent = 'coder', status = 'assigned', ...rest } = more;
  const others = Object.entries(rest).map(([key, value]) => `${key}: ${value}\n`);
  return `# By hand.\nid: ${id}\nagent: ${agent} # who else\nstatus: ${status}\nartefacts: [src/a.ts]\n${others.join('')}`;
}
