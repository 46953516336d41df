import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Exchange } from './exchange.ts';

/** The page runs nothing but what this server sends, and talks to nobody else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };

const START = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null, persistAuthorization: false,
});
`;

const page = (body: string, head = ''): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Coxswain API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${head}</head>
<body>${body}</body></html>
`;

const PAGE = page(
  '<div id="docs"></div><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script>',
  '<link rel="stylesheet" href="/docs/swagger-ui.css">',
);

const NO_PAGE = page(
  '<h1>Coxswain API</h1><p>The page to try it needs the package <code>swagger-ui-dist</code>, which is not installed. ' +
    'The description itself is at <a href="/openapi.json">/openapi.json</a>.</p>',
);

/** Nothing but these names is ever looked up, so no path leads anywhere else. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** Where the page's files are; the package is optional. */
function assetFolder(): string | undefined {
  const name = 'swagger-ui-dist';
  try {
    return join(createRequire(import.meta.url).resolve(`${name}/package.json`), '..');
  } catch {
    return undefined;
  }
}

/** `/docs`: a page to read about the API and try it, made of the OpenAPI document. Everything comes from this server. */
export class Docs {
  readonly #folder: string | undefined;

  constructor(folder = assetFolder()) {
    this.#folder = folder;
  }

  async answer(exchange: Exchange): Promise<void> {
    const html = 'text/html; charset=utf-8';
    const name = exchange.path.replace(/^\/docs\/?/, '');
    if (name === '')
      return exchange.sendText(200, html, this.#folder === undefined ? NO_PAGE : PAGE, HEADERS);
    if (name === 'start.js') return exchange.sendText(200, 'text/javascript; charset=utf-8', START, HEADERS);
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (type === undefined || this.#folder === undefined)
      return await exchange.turnAway(404, 'not_found', 'Nothing is here; see GET /docs.');
    exchange.sendText(200, type, await readFile(join(this.#folder, name)), HEADERS);
  }
}
