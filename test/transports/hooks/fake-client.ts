/**
 * A client as the system sees it: one process that starts its MCP server directly and its hooks through a shell. It is told what
 * to do in lines of JSON and answers each with one.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import { nodeFlags } from '../../../src/transports/hooks/quick.ts';
import { finished } from '../support.ts';

export type Wish =
  | { readonly do: 'connect' | 'disconnect' }
  | { readonly do: 'call'; readonly name: string; readonly input: Record<string, unknown> }
  | { readonly do: 'hook'; readonly event: HookEvent; readonly payload: unknown };

/** With a Node of its own both go through `cox`, as it is on the PATH, instead of what `cox init` writes. */
const [client = '', bin = '', hook = '', node] = process.argv.slice(2);
const env = process.env as Record<string, string>;
let server: Client | undefined;

async function fulfil(wish: Wish): Promise<unknown> {
  switch (wish.do) {
    case 'connect': {
      const args = [bin, 'mcp', '--client', client];
      const transport = new StdioClientTransport({
        command: node ?? process.execPath,
        args,
        env,
        stderr: 'ignore',
      });
      server = new Client({ name: client, version: '1' });
      await server.connect(transport);
      return { pid: transport.pid };
    }
    case 'disconnect':
      await server?.close();
      return {};
    case 'call': {
      const result = await server?.callTool({ name: wish.name, arguments: wish.input });
      return result?.structuredContent;
    }
    case 'hook': {
      const bundle = [`"${process.execPath}"`, ...nodeFlags(wish.event), `"${hook}"`];
      const program = (node === undefined ? bundle : [`"${node}"`, `"${bin}"`, 'hook']).join(' ');
      const child = spawn('/bin/sh', ['-c', `${program} ${client} ${wish.event}; exit $?`], { env });
      child.stdin.end(JSON.stringify(wish.payload));
      return await finished(child);
    }
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await fulfil(JSON.parse(line) as Wish))}\n`);
