import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../../kernel/json.ts';
import { version } from '../../../../kernel/version.ts';
import { JsonRpcProcess } from '../../doctor/json-rpc.ts';
import { ourHook } from '../hook-parts.ts';
import { codexHome } from './codex-shells.ts';

const LIMIT_MS = 15_000;

/** Our hooks in one folder, as Codex itself sees them. */
export interface AskedFolder {
  readonly folder: string;
  readonly found: number;
  /** Hooks that Codex found but does not run. */
  readonly idle: number;
}

/** What Codex reads and trusts is an internal detail, so we ask it. Throws if it does not answer. */
export async function askCodex(
  program: string,
  folders: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<AskedFolder[]> {
  using home = homeLike(codexHome(env));
  await using server = new JsonRpcProcess(program, ['app-server'], {
    cwd: folders[0] ?? '/',
    env: { ...env, CODEX_HOME: home.path },
    limit_ms: LIMIT_MS,
  });
  await server.ask('initialize', { clientInfo: { name: 'cox', title: 'cox', version: version() } });
  server.tell('initialized');
  const { data } = (await server.ask('hooks/list', { cwds: [...folders] })) as {
    data?: { cwd?: string; hooks?: JsonObject[] }[];
  };
  return folders.map((folder, index) => {
    const { hooks = [] } = data?.find(({ cwd }) => cwd === folder) ?? data?.[index] ?? {};
    const ours = hooks.filter(({ command }) => ourHook(command)?.client === 'codex');
    return { folder, found: ours.length, idle: ours.filter((hook) => !runs(hook)).length };
  });
}

function runs({ enabled, trustStatus }: JsonObject): boolean {
  return enabled !== false && /^(trusted|managed)$/.test(String(trustStatus));
}

/**
 * Codex fills its home with files and databases as soon as it starts. A question must not touch the person's
 * own home.
 */
function homeLike(home: string): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'cox-codex-'));
  const [config, hooks] = [join(home, 'config.toml'), join(home, 'hooks.json')];
  if (existsSync(hooks)) cpSync(hooks, join(path, 'hooks.json'));
  if (existsSync(config)) {
    // Codex identifies hooks by their file.
    const text = readFileSync(config, 'utf8').replaceAll(`${hooks}:`, `${join(path, 'hooks.json')}:`);
    writeFileSync(join(path, 'config.toml'), text, { mode: 0o600 });
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
