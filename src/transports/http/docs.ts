import { CSS, HTML, SCRIPT } from './docs-page.ts';
import type { Exchange } from './http-exchange.ts';

/** The page runs only what this server sends, and connects to no other server. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };

/** Only these names are ever looked up, so no path leads anywhere else. */
const FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '': ['text/html; charset=utf-8', HTML],
  'page.css': ['text/css; charset=utf-8', CSS],
  'page.js': ['text/javascript; charset=utf-8', SCRIPT],
};

/** `/docs`: everything comes from this server; it needs no package and no network. */
export async function answerDocs(exchange: Exchange): Promise<void> {
  const name = exchange.path.replace(/^\/docs\/?/, '');
  const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (file === undefined) return await exchange.turnAway(404, 'not_found', 'Nothing is here; see GET /docs.');
  exchange.sendText(200, file[0], file[1], HEADERS);
}
