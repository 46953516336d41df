import { main } from './hook-main.ts';

export { runHook } from './answer-hook.ts';

/** The bundle's entry point (scripts/hook-bundle.ts). `beforeEnd` runs once the answer is out. */
export function start(beforeEnd: () => void): void {
  main(process.argv.slice(2))
    .then((code) => {
      beforeEnd();
      process.exit(code);
    })
    // Either the answer is out or there is none; neither is a reason to stop the agent.
    .catch(() => process.exit(0));
}
