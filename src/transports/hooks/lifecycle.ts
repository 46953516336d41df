import { changesetRange, listChangesets } from '../../features/changesets/index.ts';
import { type Inbox, inboxRanges, listMessages } from '../../features/mail/index.ts';
import {
  discoverAgents,
  discoverNeeds,
  type SessionState,
  sessionKey,
} from '../../features/sessions/index.ts';
import { endSession, heartbeat, registerSession } from '../../features/sessions/operations.ts';
import { rulebookKey } from '../../features/trust/index.ts';
import { submitChangeset } from '../../features/verification/operations.ts';
import { hasPassed } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import { cleanUpSilent } from '../../runtime/background-maintenance.ts';
import { housekeeperOf } from '../../runtime/housekeeper.ts';
import { heldByOthers } from '../shared/held-by-others.ts';
import { environmentCapabilities } from '../shared/identity.ts';
import { type Noticed, noticeChanges, RECORDED_MS } from './after-command.ts';
import { briefing, LETTERS_MAX, letters } from './briefing.ts';
import type { CommandChanges } from './command-changes.ts';
import { deliveredIds, forgetDelivered, noteDelivered } from './delivered.ts';
import { heldText } from './held-text.ts';
import { type HookCall, type HookVerdict, NOTHING, type Order } from './hook-call.ts';
import { locksOn, releaseAutomatic } from './hook-locks.ts';
import type { HookPlace } from './hook-place.ts';
import { noteIfAudited } from './permitted.ts';
import type { Touched } from './touched.ts';
import { lockable } from './written-areas.ts';

const UNREAD: Inbox = { all: false, limit: limits.messages_listed_max };
const CHANGESETS_LOOKED_AT = 20;

function fail(answer: JsonObject): void {
  if (isRefusal(answer)) throw new Error(answer.message);
}

/** What is not cleaned up by then is left for the next session; this one has to start in time. */
const CLEAN_UP_MS_MAX = 1500;

/** A session that crashed and has not been noticed yet leaves the hand-off that is shown now. */
async function cleanUpFirst({ coxswain }: HookPlace): Promise<void> {
  const over = new AbortController();
  const limit = coxswain.clock.sleep(CLEAN_UP_MS_MAX, over.signal);
  await Promise.race([cleanUpSilent(coxswain, housekeeperOf(coxswain)), limit]).catch(() => {});
  over.abort();
  await limit.catch(() => {});
}

/** Registers the session and tells the agent what it should know first. */
export async function sessionStart({ locks: policy }: Order, place: HookPlace): Promise<HookVerdict> {
  const { coxswain, connection, actor, env } = place;
  await cleanUpFirst(place);
  const capabilities = environmentCapabilities(env);
  const registered = await connection.performBuilt(
    registerSession,
    capabilities.length === 0 ? {} : { capabilities },
  );
  fail(registered);
  const discovery = { idle_ms: coxswain.presence.idle_ms };
  const { ranges = [] } = discoverNeeds(discovery);
  const inbox = inboxRanges(actor.agent_id, UNREAD);
  const { loaded, now_ms } = await coxswain.store.find(coxswain.project, { ranges: [...ranges, ...inbox] });
  const { agents } = discoverAgents(discovery, (range) => loaded.list<SessionState>(range), now_ms);
  const messages = listMessages(actor.agent_id, UNREAD, loaded);
  const isOther = (agent_id: unknown) => agent_id !== actor.agent_id;
  const context = briefing({
    agent_id: actor.agent_id,
    policy,
    handoff: (registered.handoff ?? undefined) as JsonObject | undefined,
    unread: messages.length,
    messages,
    locks: (await locksOn(place)).filter(({ locked_by }) => isOther(locked_by)),
    agents: (agents as JsonObject[]).filter(({ agent_id }) => isOther(agent_id)),
  });
  noteDelivered(place, idsOf(messages.slice(0, LETTERS_MAX)));
  return { context };
}

function idsOf(messages: readonly JsonObject[]): string[] {
  return messages.map(({ message_id }) => message_id as string);
}

/**
 * After a tool: a sign of life at most once a minute, the files the tool changed, new messages. One read of
 * the store that leaves no row; only news is committed.
 */
export async function afterTool(
  order: Order,
  call: HookCall,
  { touched, changes }: { readonly touched: Touched; readonly changes: readonly CommandChanges[] },
  place: HookPlace,
): Promise<HookVerdict> {
  const noticed: Noticed = await noticeChanges(order, changes, place);
  const { coxswain, connection, actor } = place;
  const inbox = inboxRanges(actor.agent_id, UNREAD);
  const recent = changesetRange(actor, CHANGESETS_LOOKED_AT);
  const own = sessionKey(actor);
  const { loaded, now_ms } = await coxswain.store.find(coxswain.project, {
    keys: [own, rulebookKey],
    ranges: [...inbox, recent],
  });
  noteIfAudited(place, call, loaded);
  const recorded = new Set(
    listChangesets(recent, loaded)
      .filter(({ created_at }) => now_ms - Date.parse(created_at as string) < RECORDED_MS)
      .flatMap(({ files }) => files as string[]),
  );
  const changed = new Set([...changedFiles(call, touched, place), ...noticed.files]);
  const files = [...changed].filter((file) => !recorded.has(file)).slice(0, limits.changeset_files_max);
  const last_ms = loaded.get<SessionState>(own)?.state.last_active_ms;
  if (files.length > 0) fail(await connection.performBuilt(submitChangeset, { file_paths: files }));
  else if (last_ms === undefined || hasPassed(coxswain.presence.touch_ms, last_ms, coxswain.clock.now_ms()))
    fail(await connection.performBuilt(heartbeat, {}));
  const mail = newMail(listMessages(actor.agent_id, UNREAD, loaded), place);
  const news = both(noticed, mail);
  return order.client === 'gemini-cli' && order.locks === 'warn'
    ? both(await late(call, touched, place), news)
    : news;
}

/** Gemini drops what a hook says to the agent before a tool: the warning comes after it. */
async function late(call: HookCall, { writes }: Touched, place: HookPlace): Promise<HookVerdict> {
  const { coxswain, actor } = place;
  const names = lockable(writes, coxswain.workspace, call.cwd);
  if (names.length === 0) return NOTHING;
  const held = heldByOthers({ locks: await locksOn(place, names) }, actor.agent_id);
  if (held.length === 0) return NOTHING;
  return { context: `Coxswain warns: ${heldText(held, coxswain.clock.now_ms())}` };
}

function both(one: HookVerdict, other: HookVerdict): HookVerdict {
  const context = [one.context, other.context].filter((text) => text !== undefined).join('\n');
  return context === '' ? NOTHING : { context };
}

function changedFiles(call: HookCall, { writes }: Touched, { coxswain }: HookPlace): string[] {
  if (call.failed) return [];
  const files = writes.filter(({ how }) => how === 'file');
  return lockable(files, coxswain.workspace, call.cwd)
    .filter((name) => !name.endsWith('/'))
    .slice(0, limits.changeset_files_max);
}

/** Each message once; unread ones stay unread until the agent acknowledges them. */
function newMail(unread: readonly JsonObject[], place: HookPlace): HookVerdict {
  if (unread.length === 0) return NOTHING;
  const shown = deliveredIds(place);
  const fresh = unread.filter(({ message_id }) => !shown.has(message_id as string));
  if (fresh.length === 0) return NOTHING;
  const now = fresh.slice(0, LETTERS_MAX);
  noteDelivered(place, [...idsOf(unread).filter((id) => shown.has(id)), ...idsOf(now)]);
  return { context: letters(now, fresh.length).join('\n') };
}

export async function turnEnd(place: HookPlace): Promise<HookVerdict> {
  await releaseAutomatic(place);
  return NOTHING;
}

/** Frees what is left and leaves a hand-off from what the log knows (operations/clean-up.ts). */
export async function sessionEnd(place: HookPlace): Promise<HookVerdict> {
  fail(await place.connection.performBuilt(endSession, {}));
  forgetDelivered(place);
  return NOTHING;
}
