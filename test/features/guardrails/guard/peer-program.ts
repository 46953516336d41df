// Started by peer.ts with a home of its own: commands come in, whether cc-safety-net denies them goes out.
import { text } from 'node:stream/consumers';

interface Api {
  checkCommand(input: { command: string; cwd: string }): { kind: 'allow' | 'deny' };
}

const [api = '', cwd = ''] = process.argv.slice(2);
const { checkCommand } = (await import(api)) as Api;

function denied(command: string): boolean {
  try {
    return checkCommand({ command, cwd }).kind !== 'allow';
  } catch {
    return true; // as its documentation asks of who calls it
  }
}

const commands = JSON.parse(await text(process.stdin)) as string[];
process.stdout.write(JSON.stringify(commands.map(denied)));
