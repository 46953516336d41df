// The log torn at each byte of a commit, where the daily run takes some of them.
process.env.COX_TEST_TORN = '1';
await import('./files.test.ts');
