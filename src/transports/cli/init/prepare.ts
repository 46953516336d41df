import { dirname } from 'node:path';
import { readOnlyViewSupport } from '../../../child-process/view-support.ts';
import { linkTarget, readBytes } from './changes.ts';
import type { ClientFile, Reader, Site } from './clients/client-setup.ts';
import { excludeFile, trackedFiles } from './exclude.ts';
import { gitHookChanges } from './git-hook-changes.ts';
import { type Manifest, manifestPath, otherManifests, readManifest } from './manifest.ts';
import { missingFolders, type Plan, planBytes, planFiles, type WantedFile } from './setup-plan.ts';
import type { Request } from './setup-request.ts';
import { skillFiles } from './skills.ts';
import { Unusable } from './unusable.ts';
import { ownPrograms, type Scope, type Wiring } from './wiring.ts';

export interface Prepared extends Plan {
  readonly manifestPath: string;
  readonly known: Manifest | undefined;
  /** What else the person should know or do. */
  readonly notes: readonly string[];
}

export interface Extras {
  readonly skills: boolean;
  readonly gitHooks: boolean;
  readonly trust: boolean;
}

/**
 * Everything that would be written, for all clients together. If one file can't be used, nothing is written.
 */
export async function prepareInit(request: Request, extras: Extras): Promise<Prepared> {
  const { site, state, store } = request;
  const path = manifestPath(state, keyOf(site));
  const known = readManifest(path);
  assertOneScope(request);
  const wiring = await wiringFor(request);
  const files = clientFiles(request, wiring);
  const wanted: WantedFile[] = [...files, ...(extras.skills ? skillFiles(site.root) : [])];
  let plan = planFiles(keyOf(site), wanted, known);
  if (extras.trust) plan = planFiles(keyOf(site), [...wanted, ...trustFiles(request, plan)], known);
  plan = withExclude(plan, request);
  if (extras.gitHooks) plan = planBytes(plan, await gitHookChanges(request));
  // Looked up now: of several processes that plan at once, one creates a folder and another may finish first.
  const more = [...sharedFolders(plan, path), ...missingFolders(dirname(path))];
  const folders = [...new Set([...plan.manifest.folders, ...more])];
  const manifest = { ...plan.manifest, folders, store: store ?? known?.store };
  const notes = [
    ...trackedNotes(request, files),
    ...worktreeNotes(request),
    ...caveats(request),
    ...shellNotes(request, wiring),
  ];
  return { ...plan, manifest, manifestPath: path, known, notes };
}

export function keyOf({ scope, repository }: Site): string {
  return scope === 'user' ? 'user' : repository;
}

async function wiringFor({ locks, store, state }: Request): Promise<Wiring> {
  // On macOS the sandbox would have to be set up anew for each command, and no test has seen that.
  const isProtected = process.platform === 'linux' && (await readOnlyViewSupport()).isThere;
  return { programs: ownPrograms(), locks, store, shells: isProtected ? state : undefined };
}

function shellNotes({ site, chosen }: Request, wiring: Wiring): string[] {
  return chosen.flatMap(({ client }) => client.shells?.note(site, wiring) ?? []);
}

/** The files each client reads. A client that reads only its own worktree gets them in every worktree. */
function clientFiles({ site, worktrees, chosen }: Request, wiring: Wiring): (ClientFile & WantedFile)[] {
  return chosen.flatMap(({ client }) =>
    (client.spansWorktrees ? [site] : worktrees.sites).flatMap((each) =>
      client.files(each, wiring).map((file) => ({ ...file, client: client.name, own: true })),
    ),
  );
}

/** The client's consent to the hooks as planned, not as they are now. */
function trustFiles({ worktrees, chosen }: Request, { changes }: Plan): WantedFile[] {
  const planned = new Map(changes.map(({ path, after }) => [path, after]));
  const read: Reader = (path) => {
    const target = linkTarget(path);
    const bytes = planned.has(target) ? planned.get(target) : readBytes(target);
    return bytes?.toString('utf8');
  };
  return chosen.flatMap(({ client }) =>
    client.consent(worktrees.sites, read).files.map((file) => ({ ...file, client: client.name })),
  );
}

function withExclude(plan: Plan, { site, workspace, worktrees }: Request): Plan {
  const { gitCommonDir } = workspace;
  if (gitCommonDir === undefined || site.scope === 'user') return plan;
  const exclude = excludeFile(gitCommonDir, rootsOf(worktrees.sites), plan.manifest);
  if (exclude === undefined) return plan;
  const more = planFiles(keyOf(site), [exclude], plan.manifest);
  return { changes: [...plan.changes, ...more.changes], manifest: more.manifest };
}

function rootsOf(sites: readonly Site[]): string[] {
  return [...new Set(sites.flatMap(({ root, mainRoot }) => [root, mainRoot]))];
}

/**
 * Folders that another repository's `cox init` created and that this one uses too. The last undo removes
 * them.
 */
function sharedFolders({ manifest }: Plan, path: string): string[] {
  const used = [path, ...manifest.files.map((file) => file.path)];
  return otherManifests(path)
    .flatMap(({ folders }) => folders)
    .filter((folder) => used.some((file) => dirname(file) === folder || file.startsWith(`${folder}/`)));
}

/** With both scopes wired, the hooks of both would run and check each call twice. */
function assertOneScope({ site, state, chosen }: Request): void {
  const other: Scope = site.scope === 'user' ? 'project' : 'user';
  const path = manifestPath(state, keyOf({ ...site, scope: other }));
  const wired = new Set(readManifest(path)?.files.map(({ client }) => client));
  const twice = chosen.find(({ client }) => wired.has(client.name));
  if (twice !== undefined)
    throw new Unusable(
      path,
      undefined,
      `says that ${twice.client.title} is set up with --scope ${other} already`,
      `Run \`cox init --undo --scope ${other}\` first.`,
    );
}

function trackedNotes({ workspace, worktrees }: Request, files: readonly ClientFile[]): string[] {
  if (workspace.gitCommonDir === undefined) return [];
  const locals = files.filter(({ local }) => local).map(({ path }) => path);
  return trackedFiles(rootsOf(worktrees.sites), locals).map(
    (file) =>
      `${file} is part of the repository, and now has paths of this machine in it: do not commit that, or use --scope user.`,
  );
}

function worktreeNotes({ worktrees, chosen }: Request): string[] {
  const narrow = chosen.filter(({ client }) => !client.spansWorktrees).map(({ client }) => client.title);
  if (narrow.length === 0) return [];
  const absent = worktrees.absent.map(
    (path) => `The worktree ${path} is not there, or not yours to write, and is left out.`,
  );
  return worktrees.sites.length === 1
    ? absent
    : [...absent, `${narrow.join(' and ')} need \`cox init\` again after a worktree is added.`];
}

function caveats({ site, chosen }: Request): string[] {
  return site.scope === 'user' ? [] : chosen.flatMap(({ client }) => client.caveat ?? []);
}
