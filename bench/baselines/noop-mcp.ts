/** The least an MCP server can be: the same SDK, one tool that does nothing. */
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new Server({ name: 'noop', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object' as const };
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'noop', inputSchema }] }));
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: '{"success":true}' }] }));
  return server;
});
