/** A word of a name such as `app_test_db_1` or `$PROD_HOST`, with the digits that may count several of them. */
const wordOf = (names: string) => new RegExp(`(?:^|[^a-z0-9])(?:${names})\\d*(?![a-z0-9])`, 'i');

const NOT_YET = /(?:non|pre)[-_.]?prod(?:uction)?/gi;
const PRODUCTION = wordOf('prod|production|prd|live');
const DISPOSABLE = wordOf('tests?|testing|e2e|ci|te?mp|scratch|sandbox|playground|specs?');
const TRIAL = wordOf(
  'staging|stage|stg|dev|devel|develop|development|qa|uat|preview|demo|local|localhost|vagrant',
);
const THIS_MACHINE = /^(?:127\.|\[?::1\]?$)/;

/** A name that says that users depend on it: `prod`, `prod-web-02`, `www.prod.example.com`. */
export function namesProduction(text: string): boolean {
  return PRODUCTION.test(text.replaceAll(NOT_YET, ' '));
}

/** A name that says that it was made to be thrown away: `test-pg`, `orders_e2e`. */
export function namesDisposable(text: string): boolean {
  return DISPOSABLE.test(text) && !namesProduction(text);
}

/** A name that says that no user depends on it: also staging, development, this machine. */
export function namesTrial(text: string): boolean {
  const isTrial = [DISPOSABLE, TRIAL, NOT_YET, THIS_MACHINE].some((names) => text.search(names) !== -1);
  return isTrial && !namesProduction(text);
}
