// Java for DynamoDB Local: npm can't bring it. Where we may, it is installed; where not, the tests that want it are named.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { JAVA_PACKAGE, javaMissing } from '../test/support/java.ts';

const INSTALL_MS_MAX = 120_000;
const run = promisify(execFile);

/** By its name: a test in test/tidy complains about a file of another name that uses a table. */
export function needsDynamoDb(file: string): boolean {
  return file.includes('dynamodb');
}

/** Why there is no Java even so; undefined when there is. */
export async function readyJava(
  env: NodeJS.ProcessEnv = process.env,
  mayInstall: boolean = process.getuid?.() === 0,
): Promise<string | undefined> {
  const missing = javaMissing(env);
  if (missing === undefined || !mayInstall || !(await installed(env))) return missing;
  return javaMissing(env);
}

async function installed(env: NodeJS.ProcessEnv): Promise<boolean> {
  const signal = AbortSignal.timeout(INSTALL_MS_MAX);
  const apt = (...words: string[]) =>
    run('apt-get', words, { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, signal }).then(
      () => true,
      () => false,
    );
  if (!(await apt('--version'))) return false;
  console.log(`installing ${JAVA_PACKAGE} for DynamoDB Local …`);
  const install = () => apt('install', '-y', '--no-install-recommends', JAVA_PACKAGE);
  // A fresh container has no list of packages yet.
  return (await install()) || ((await apt('update')) && (await install()));
}

export function leftOutNotice(files: readonly string[], why: string): string {
  const list = files.map((file) => `  ${file}\n`).join('');
  return `\n!!! ${files.length} test ${files.length === 1 ? 'file' : 'files'} did not run: DynamoDB Local needs Java.\n${list}!!! ${why}\n`;
}
