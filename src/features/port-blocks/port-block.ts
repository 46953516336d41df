import { hash } from 'node:crypto';

/**
 * The ports of a block that are used: database, REST, realtime, API. The session may use the rest of its
 * range freely.
 */
export const BLOCK_PORTS = 4;

export type PortBlock = {
  db_port: number;
  rest_port: number;
  realtime_port: number;
  api_port: number;
  compose_project_name: string;
};

/** What a session gets with the block that starts at `db_port`. */
export function portBlock(session_id: string, db_port: number): PortBlock {
  return {
    db_port,
    rest_port: db_port + 1,
    realtime_port: db_port + 2,
    api_port: db_port + 3,
    compose_project_name: `ac-${hash('sha256', session_id, 'hex').slice(0, 8)}`,
  };
}

/**
 * For a shell's `eval`: the values contain only numbers and hexadecimal digits, whatever the session is
 * called.
 */
export function envSnippet(block: PortBlock): string {
  const variables = {
    AGENT_COORDINATOR_DB_PORT: block.db_port,
    AGENT_COORDINATOR_REST_PORT: block.rest_port,
    AGENT_COORDINATOR_REALTIME_PORT: block.realtime_port,
    API_PORT: block.api_port,
    COMPOSE_PROJECT_NAME: block.compose_project_name,
    SUPABASE_URL: `http://localhost:${block.rest_port}`,
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n');
}
