import { connect } from 'node:net';
import { BLOCK_PORTS } from './port-block.ts';

const ANSWER_MS_MAX = 300;
const LOOPBACKS = ['127.0.0.1', '::1'];

/**
 * Whether a program that did not ask for ports listens on one of the block's ports. A courtesy and no
 * guarantee: a program may start a moment later, or listen on another address. It connects instead of
 * binding, because two processes that bind at once would mistake each other for such a program.
 */
export async function isBlockTaken(db_port: number): Promise<boolean> {
  const ports = Array.from({ length: BLOCK_PORTS }, (_, offset) => db_port + offset);
  const answers = await Promise.all(ports.flatMap((port) => LOOPBACKS.map((host) => accepts(host, port))));
  return answers.includes(true);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_MS_MAX });
    const answer = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => answer(true));
    // On the local machine, no reply means a firewall: it must not make every block look taken.
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}
