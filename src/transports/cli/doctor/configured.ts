import type { JsonObject } from '../../../kernel/json.ts';
import { readBytes } from '../init/changes.ts';
import type { AgentClient, ClientFile, Site } from '../init/clients/client-setup.ts';
import { ourHook } from '../init/hook-parts.ts';
import { jsonIn } from '../init/json-text.ts';
import { parseTomlText } from '../init/toml-text.ts';
import { ownPrograms, SCOPES, type Scope, SERVER } from '../init/wiring.ts';

export interface ConfiguredHook {
  readonly event: string;
  readonly command: string;
}

/** What a client's own files say now, regardless of which program or person wrote it. */
export interface Configured {
  readonly scope: Scope;
  readonly server: { readonly command: string; readonly args: readonly string[] } | undefined;
  readonly hooks: readonly ConfiguredHook[];
  /** Events that `cox init` would hook and that have no hook. */
  readonly missing: readonly string[];
}

/** The scope in which the client is wired. If it is wired in neither, whatever the repository's files say. */
export function readConfigured(client: AgentClient, site: Site): Configured {
  const all = SCOPES.map((scope) => readScope(client, { ...site, scope }));
  const wired = all.find(({ server, hooks }) => server !== undefined || hooks.length > 0);
  return wired ?? (all[0] as Configured);
}

/** Wired in both scopes, every call would be checked twice. */
export function wiredTwice(client: AgentClient, site: Site): boolean {
  return SCOPES.every((scope) => readScope(client, { ...site, scope }).hooks.length > 0);
}

function readScope(client: AgentClient, site: Site): Configured {
  const files = client.files(site, { programs: ownPrograms(), locks: 'auto' });
  const hooks = files.flatMap(hooksIn);
  const wanted = files.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'json-hooks' ? Object.keys(part.events) : [])),
  );
  const there = new Set(hooks.map(({ name }) => name));
  return {
    scope: site.scope,
    server: files.map(serverIn).find((server) => server !== undefined),
    hooks: hooks.map(({ event, command }) => ({ event, command })),
    missing: wanted.filter((name) => !there.has(name)),
  };
}

function hooksIn(file: ClientFile): (ConfiguredHook & { name: string })[] {
  if (!file.parts.some(({ kind }) => kind === 'json-hooks')) return [];
  const events = (readJson(file.path)?.hooks ?? {}) as Record<string, { hooks?: JsonObject[] }[]>;
  return Object.entries(events).flatMap(([name, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group) =>
      (group?.hooks ?? []).flatMap(({ command }) => {
        const ours = ourHook(command);
        return ours === undefined ? [] : [{ name, event: ours.event, command: String(command) }];
      }),
    ),
  );
}

function serverIn(file: ClientFile): Configured['server'] {
  for (const part of file.parts) {
    const found =
      part.kind === 'json-value'
        ? part.at.reduce<unknown>(
            (value, name) => (value as JsonObject | undefined)?.[name],
            readJson(file.path),
          )
        : part.kind === 'toml-server'
          ? (readToml(file.path)?.mcp_servers as JsonObject | undefined)?.[SERVER]
          : undefined;
    const { command, args } = (found ?? {}) as { command?: unknown; args?: unknown };
    if (typeof command === 'string') return { command, args: Array.isArray(args) ? args.map(String) : [] };
  }
  return undefined;
}

/** Throws an error that says what is wrong with the file, and in which line. */
export function readJson(path: string): JsonObject | undefined {
  return jsonIn(readText(path), path);
}

export function readText(path: string): string | undefined {
  return readBytes(path)?.toString('utf8');
}

function readToml(path: string): JsonObject | undefined {
  const text = readText(path);
  return text === undefined ? undefined : parseTomlText(text, path);
}
