// Imports point one way: doors → coordinator, operations → domain, policy → ledger → kernel; stores → ledger.
// The rule "no static path from doors/hooks to zod" is test/tidy/hooks.test.ts: here `reachable` can't tell a static
// import from a dynamic one, and a dynamic one is exactly how hooks may reach a schema.
const layer = (name, path, allowed) => ({
  name: `${name}-imports-only-below`,
  comment: `src/${name} may import ${allowed.map((part) => `src/${part}`).join(', ')} and nothing else of src`,
  severity: 'error',
  from: { path },
  to: { path: '^src/', pathNot: allowed.map((part) => `^src/${part}`) },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    layer('kernel', '^src/kernel/', ['kernel/']),
    layer('ledger', '^src/ledger/', ['kernel/', 'ledger/']),
    layer('domain', '^src/domain/', ['kernel/', 'ledger/', 'domain/']),
    layer('policy', '^src/policy/', ['kernel/', 'ledger/', 'domain/', 'policy/']),
    // What a machine answers alone has no way to a store; of leases it knows when one is over.
    layer('ports', '^src/ports/', ['kernel/', 'domain/lease.ts', 'ports/']),
    // A place keeps bytes: what they are and who may move them is decided above it.
    layer('places', '^src/places/', ['kernel/', 'places/']),
    layer('views', '^src/views/', ['kernel/', 'ledger/', 'domain/', 'places/', 'operation\\.ts', 'views/']),
    // A folder of task files: what its files mean, and how they are changed.
    layer('workdir', '^src/workdir/', ['kernel/', 'domain/', 'policy/', 'places/', 'workdir/']),
    layer('stores', '^src/stores/', ['kernel/', 'ledger/', 'stores/']),
    {
      name: 'coordinator-knows-no-operation',
      comment:
        'the coordinator receives a declaration; it and its neighbours import no operation, door or store',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/(index|open)\\.ts$' },
      to: { path: '^src/(operations|doors|stores)/|^src/index\\.ts$' },
    },
    {
      name: 'operations-import-only-below',
      comment: 'src/operations knows neither the door it is asked through nor the store that answers',
      severity: 'error',
      from: { path: '^src/operations/' },
      to: { path: '^src/(doors|stores)/|^src/index\\.ts$' },
    },
    {
      name: 'client-knows-no-store',
      comment: 'src/client opens a store only through src/open.ts, and knows the domain by its types alone',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/(domain|stores|ledger|policy)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-is-pure',
      comment: 'src/domain imports neither node:* nor a package: time, ids and randomness are arguments',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: '^src/' },
    },
    {
      name: 'src-stands-alone',
      comment: 'the product never imports its tests, benchmarks or scripts',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'src-uses-no-dev-dependency',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^bench/node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
