import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const PODMAN = { version: { Version: '5.4.0' }, host: { security: { rootless: true }, cgroupVersion: 'v2' } };
const DOCKER = { ServerVersion: '28.2.2', SecurityOptions: ['name=seccomp,profile=builtin'] };

/** A folder for PATH with programs called podman or docker that are real processes and run nothing. */
export class FakeTools {
  readonly folder = mkdtempSync(join(tmpdir(), 'cox-fake-tool-'));
  readonly #calls = join(this.folder, 'calls');

  constructor(t: TestContext) {
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
    mkdirSync(join(this.folder, 'bin'));
    // Not all of /usr/bin: a real tool may be there.
    for (const program of ['cat', 'env'])
      symlinkSync(join('/usr/bin', program), join(this.folder, 'bin', program));
    writeFileSync(this.#calls, '');
  }

  get env(): NodeJS.ProcessEnv {
    return { PATH: join(this.folder, 'bin'), HOME: '/caller' };
  }

  /** `verbs`: what the shell does for `run`, `ps`, `info` and so on; each is noted, with its arguments. */
  add(tool: 'podman' | 'docker', verbs: Readonly<Record<string, string>> = {}): void {
    const info = `echo '${JSON.stringify(tool === 'podman' ? PODMAN : DOCKER)}'`;
    const cases = Object.entries({ info, run: 'cat', ...verbs }).map(([verb, does]) => `${verb}) ${does};;`);
    const note = `for word in ${tool} "$@"; do printf '%s\\0' "$word"; done >>'${this.#calls}'; printf '\\n\\0' >>'${this.#calls}'`;
    const path = join(this.folder, 'bin', tool);
    writeFileSync(path, `#!/bin/sh\n${note}\ncase $1 in ${cases.join(' ')} esac\n`);
    chmodSync(path, 0o755);
  }

  /** With all of their arguments. */
  calls(verb: string): string[][] {
    const calls = readFileSync(this.#calls, 'utf8').split('\0\n\0');
    return calls.map((call) => call.split('\0')).filter((words) => words[1] === verb);
  }
}
