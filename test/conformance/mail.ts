import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import type { Scene } from './suite.ts';

const bodies = (answer: JsonObject) => (answer.messages as JsonObject[]).map(({ body }) => body);

export function mailCases(scene: Scene): void {
  const { engine } = scene;
  test(`[MAIL-1] ${engine}: a message is read, answered in its thread, and acknowledged`, async () => {
    const [ann, ben] = [scene.agent('ann'), scene.agent('ben')];
    const sent = await ann('send_message', { to: ['ben'], subject: 'router', body: 'is it free?' });
    assert.deepEqual([sent.success, sent.recipients], [true, ['ben']]);
    const { messages } = await ben('read_inbox');
    const [letter] = messages as JsonObject[];
    assert.deepEqual(
      [letter?.from, letter?.subject, letter?.body, letter?.thread_id],
      ['ann', 'router', 'is it free?', sent.thread_id],
    );
    assert.deepEqual(bodies(await ann('read_inbox')), [], 'nobody else gets it');
    const reply = await ben('send_message', { body: 'yes', in_reply_to: sent.message_id });
    assert.deepEqual([reply.recipients, reply.thread_id], [['ann'], sent.thread_id]);
    const thread = await ann('read_inbox', { thread_id: sent.thread_id });
    assert.deepEqual(bodies(thread), ['is it free?', 'yes']);
    const acknowledged = await ben('acknowledge_message', { message_ids: [sent.message_id as string] });
    assert.equal(acknowledged.acknowledged, 1);
    assert.deepEqual(bodies(await ben('read_inbox')), []);
    assert.deepEqual(bodies(await ben('read_inbox', { all: true })), ['is it free?']);
    const seen = (await ann('read_inbox', { thread_id: sent.thread_id })).messages as JsonObject[];
    assert.ok(seen[0]?.acknowledged_at !== undefined, 'the sender sees it');
    const again = await ben('acknowledge_message', { message_ids: [sent.message_id as string] });
    assert.deepEqual([again.success, again.acknowledged], [true, 0]);
  });

  test(`[MAIL-1] ${engine}: a broadcast reaches everybody who has the capability, each by itself`, async () => {
    const [cat, dan, eli] = [scene.agent('cat'), scene.agent('dan'), scene.agent('eli')];
    for (const each of [cat, dan, eli]) await each('register_session', { capabilities: ['mail-test'] });
    const sent = await cat('send_message', { capability: 'mail-test', body: 'to all' });
    assert.deepEqual([...(sent.recipients as string[])].sort(), ['dan', 'eli'], 'not to oneself');
    await dan('acknowledge_message', { message_ids: [sent.message_id as string] });
    assert.deepEqual(bodies(await dan('read_inbox')), []);
    const [left] = (await eli('read_inbox')).messages as JsonObject[];
    assert.deepEqual([left?.body, left?.addressed_to], ['to all', 'capability:mail-test']);
    const none = await cat('send_message', { capability: 'nobody-can', body: 'x' });
    assert.equal(none.error, 'no_recipients');
  });

  test(`[MAIL-1] ${engine}: a thread shows everybody its end, however many others have copies in it`, async () => {
    const to = Array.from({ length: 30 }, (_, n) => `zoe-${n + 10}`);
    const [kim, last] = [scene.agent('kim'), scene.agent('zoe-39')];
    const { thread_id, message_id } = await kim('send_message', { to, body: 'who can?' });
    assert.deepEqual(bodies(await last('read_inbox', { thread_id })), ['who can?']);
    await last('send_message', { body: 'I can', in_reply_to: message_id });
    assert.equal(bodies(await kim('read_inbox', { thread_id })).at(-1), 'I can');
    assert.deepEqual(bodies(await last('read_inbox', { thread_id, limit: 1 })), ['I can']);
  });

  test(`[MAIL-1] ${engine}: a thread shows everybody its end, though more copies stand in it than are read at once`, async () => {
    const to = ['lea', ...Array.from({ length: limits.message_recipients_max - 1 }, (_, n) => `max-${n}`)];
    const [lea, max] = [scene.agent('lea'), scene.agent('max-7')];
    const first = await lea('send_message', { to: [...to.slice(0, -1), 'ned'], body: '0' });
    const { thread_id } = first;
    const in_reply_to = first.message_id;
    const count = Math.ceil(limits.range_rows_max / to.length) + 2;
    for (let n = 1; n < count; n += 1) await lea('send_message', { to, body: String(n), in_reply_to });
    const last = Array.from({ length: 20 }, (_, n) => String(count - 20 + n));
    assert.deepEqual(bodies(await max('read_inbox', { thread_id })), last);
    await max('send_message', { body: 'I read it', in_reply_to });
    assert.deepEqual(bodies(await max('read_inbox', { thread_id, limit: 2 })), [last.at(-1), 'I read it']);
    // She sees each copy of what she sent.
    const hers = (await lea('read_inbox', { thread_id, limit: 100 })).messages as JsonObject[];
    assert.deepEqual([hers.length, hers.at(-1)?.from, hers.at(-2)?.body], [100, 'max-7', last.at(-1)]);
    const whole = await max('read_inbox', { thread_id, limit: 100 });
    assert.deepEqual(bodies(whole), [...Array.from({ length: count }, (_, n) => String(n)), 'I read it']);
    assert.deepEqual(bodies(await scene.agent('ned')('read_inbox', { thread_id })), ['0']);
  });

  test(`[MAIL-1] ${engine}: nobody acknowledges, answers or reads what is not theirs`, async () => {
    const [fox, gil] = [scene.agent('fox'), scene.agent('gil')];
    const sent = await fox('send_message', { to: ['ivy'], body: 'secret' });
    const ids = { message_ids: [sent.message_id as string] };
    assert.equal((await gil('acknowledge_message', ids)).error, 'unknown_message');
    const reply = await gil('send_message', { body: 'me too', in_reply_to: sent.message_id });
    assert.equal(reply.error, 'unknown_message');
    assert.deepEqual(bodies(await gil('read_inbox', { thread_id: sent.thread_id })), []);
    const unread = await scene.agent('ivy')('register_session');
    assert.equal(unread.unread_messages, 1);
  });
}
