import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { captureScreens } from '../../scripts/screens.ts';

/** Times and ids differ from run to run, and with them the width of their columns. */
function normalised(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<id>')
    .replaceAll(/\d\d:\d\d:\d\d/g, '<time>')
    .replaceAll(/\d+ (s|min|h)\b/g, '<span>')
    .replaceAll(/ {2,}/g, '  ');
}

test('[CLI-1] the screens in docs/ are what the commands show, 80 columns wide', async () => {
  for (const [name, text] of Object.entries(await captureScreens())) {
    const kept = readFileSync(new URL(`../../docs/screens/${name}.txt`, import.meta.url), 'utf8');
    assert.equal(normalised(text), normalised(kept), `draw it anew: node scripts/screens.ts (${name})`);
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
  }
});
