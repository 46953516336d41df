// Imports point one way. What a slice may use of another is in test/tidy/slices.ts.
const layer = (name, allowed) => ({
  name: `${name}-imports-only-below`,
  comment: `src/${name} may import ${allowed.map((part) => `src/${part}`).join(', ')} and nothing else of src`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: { path: '^src/', pathNot: [name, ...allowed].map((part) => `^src/${part}/`) },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    layer('kernel', []),
    layer('ledger', ['kernel']),
    layer('storage', ['kernel']),
    layer('stores', ['kernel', 'ledger']),
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
