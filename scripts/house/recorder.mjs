// Preloaded into a measured process (`node --import`). Writes which sources of the project it has loaded and, after a second SIGUSR2, in
// which of them a function ran since the first.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import module from 'node:module';

const { COX_RECORD_FILE: file, COX_RECORD_ROOT: root } = process.env;
const isSource = (url) => url.startsWith(`${root}src/`);
const loaded = new Set();
module.registerHooks({
  load(url, context, next) {
    if (isSource(url)) loaded.add(url.slice(root.length));
    return next(url, context);
  },
});

let session;
let signals = 0;
let passed = [];
process.on('SIGUSR2', () => {
  signals += 1;
  if (session === undefined) {
    session = new Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  } else {
    session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      const ran = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0));
      passed = ran
        .map(({ url }) => url)
        .filter(isSource)
        .map((url) => url.slice(root.length));
    });
  }
  write();
});
process.on('exit', write);

/** Renamed into place: a reader never finds half of it. */
function write() {
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ signals, loaded: [...loaded].sort(), passed: passed.sort() }),
  );
  renameSync(`${file}.new`, file);
}
