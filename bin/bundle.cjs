// Loads the program from its bundle (scripts/cox-bundle.ts builds it), with what V8 compiled of it the last time. From its sources
// a command takes three times as long. Plain JavaScript without dependencies: `cox` itself loads it.
const {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} = require('node:fs');

const root = __dirname.slice(0, -'bin'.length);
const dist = `${root}dist/`;
const NEVER = { throwIfNoEntry: false };

/**
 * What is in dist, and whether every source is as it was when that was built; undefined: nothing is there. A published package has no
 * sources. Times are compared for equality: a file that was put back to an older state is another one, too.
 */
function find() {
  const text = read(`${dist}cox.json`, 'utf8');
  if (text === undefined) return undefined;
  const built = JSON.parse(text);
  return { ...built, isFresh: !existsSync(`${root}src`) || isUnchanged(built.sources) };
}

function isUnchanged(sources) {
  for (const path in sources) if (stateOf(path) !== sources[path]) return false;
  return true;
}

/** Of a file of the package; undefined: it is not there. */
function stateOf(path) {
  const found = statSync(root + path, NEVER);
  return found && `${found.mtimeMs} ${found.size}`;
}

function read(path, encoding) {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined;
  }
}

/**
 * `program`: what the bundle exports. `keep`: keeps for the next process what was compiled. `used`: the chunks that were loaded.
 * A chunk is what was a module, or several; they lie in a few files, of which most commands need the first one. `kind`: of the
 * programs in it; what one compiles is not what another one needs.
 */
function load({ files, chunks, slow, entry }, kind) {
  const loaded = new Map();
  const packs = [];
  const need = (name) => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    if (!(name in chunks)) {
      if (!(name in slow)) return require(name);
      loaded.set(name, { exports: later(name, slow[name]) });
      return loaded.get(name).exports;
    }
    const module = { exports: {} };
    loaded.set(name, module);
    packs[chunks[name]] ??= open(files[chunks[name]], kind);
    packs[chunks[name]].chunks[name](module.exports, need, module, moduleUrl);
    return module.exports;
  };
  const program = need(entry);
  const keep = () => {
    if (HAS_FLAGS) return;
    for (const { script, compiled } of packs.filter(Boolean))
      if (script !== undefined && script.cachedDataRejected !== false) keepCompiled(script, compiled);
  };
  return { program, keep, used: () => [...loaded.keys()] };
}

/** Loaded by the first use of something of it: many commands only name it. `keys`: what it has, as known when the bundle was built. */
function later(name, keys) {
  let found;
  const use = () => (found ??= require(name));
  const lazy = {};
  for (const key of keys) Object.defineProperty(lazy, key, { enumerable: true, get: () => use()[key] });
  return lazy;
}

/** Where the sources are not, there is what was compiled from each of them. */
function moduleUrl(name) {
  const source = `${root}src/${name}`;
  const path = existsSync(source) ? source : dist + name.replace(/\.ts$/, '.js');
  return require('node:url').pathToFileURL(path).href;
}

/** Node's own cache has only what is compiled before anything runs. It is what is left where our folder can't be written. */
function open(name, kind) {
  const filename = dist + name;
  const compiled = `${filename.slice(0, -'.cjs'.length)}-${kind}-${process.versions.v8}-${process.arch}.bin`;
  const cachedData = read(compiled);
  if (cachedData === undefined && !isWritable()) {
    require('node:module').enableCompileCache();
    return { chunks: require(filename) };
  }
  const { Script } = require('node:vm');
  const text = `(function (module) {${readFileSync(filename, 'latin1')}\n})`;
  const script = new Script(text, { filename, cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module);
  return { chunks: module.exports, script, compiled };
}

/** V8 takes no code that it compiled under other flags: a process that has some leaves the kept code to the others. */
const HAS_FLAGS = process.execArgv.length > 0 || Boolean(process.env.NODE_OPTIONS);

/** Other processes may do the same: none of them must meet half a file. */
function keepCompiled(script, path) {
  const aside = `${path}.${process.pid}.new`;
  try {
    writeFileSync(aside, script.createCachedData());
    renameSync(aside, path);
  } catch {
    // The next process compiles it again.
  }
}

function isWritable() {
  try {
    accessSync(dist, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

module.exports = { find, load, stateOf };
