import type pg from 'pg';

/** What a database holds of the product's schema, one line of text for each object, column, right and row of `meta`. */
export type Catalog = ReadonlyMap<string, string>;

/** A right that was never given or taken is the default of its kind; the order in which rights were given does not matter. */
function rights(list: string, kind: string, owner: string): string {
  return `(SELECT string_agg(format('%s=%s%s/%s', CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END,
      a.privilege_type, CASE WHEN a.is_grantable THEN '*' ELSE '' END, a.grantor::regrole),
      ' ' ORDER BY a.grantee::regrole::text COLLATE "C", a.privilege_type COLLATE "C", a.grantor)
    FROM aclexplode(coalesce(${list}, acldefault('${kind}', ${owner}))) a)`;
}

const OURS = "('coxswain'::regnamespace, 'auth'::regnamespace)";

/** Each answers `name` and `said`, which holds everything that is compared. */
const QUERIES: Readonly<Record<string, string>> = {
  schema: `SELECT n.nspname AS name, concat_ws(' ', n.nspowner::regrole, ${rights('n.nspacl', 'n', 'n.nspowner')}) AS said
    FROM pg_namespace n WHERE n.oid IN ${OURS}`,
  relation: `SELECT c.oid::regclass AS name, (to_jsonb(c) - ARRAY['oid', 'reltype', 'relfilenode', 'relpages', 'reltuples',
      'relallvisible', 'relallfrozen', 'reltoastrelid', 'relfrozenxid', 'relminmxid', 'relacl', 'relowner', 'relnamespace', 'relam'])
      || jsonb_build_object('owner', c.relowner::regrole, 'method', (SELECT amname FROM pg_am WHERE oid = c.relam), 'rights',
        ${rights('c.relacl', 'r', 'c.relowner')}) AS said
    FROM pg_class c WHERE c.relnamespace IN ${OURS}`,
  column: `SELECT format('%s.%s', a.attrelid::regclass, a.attname) AS name,
      (to_jsonb(a) - ARRAY['attrelid', 'atttypid', 'attcollation', 'attacl', 'attcacheoff', 'attmissingval'])
      || jsonb_build_object('type', format_type(a.atttypid, a.atttypmod), 'collation', a.attcollation::regcollation,
        'default', (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum),
        'rights', CASE WHEN a.attacl IS NOT NULL THEN ${rights('a.attacl', 'c', 'c.relowner')} END) AS said
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace IN ${OURS} AND a.attnum > 0`,
  constraint: `SELECT format('%s %s', k.conrelid::regclass, k.conname) AS name,
      concat_ws(' ', pg_get_constraintdef(k.oid), k.convalidated, k.condeferrable, k.condeferred, k.conislocal) AS said
    FROM pg_constraint k WHERE k.connamespace IN ${OURS}`,
  index: `SELECT i.indexrelid::regclass AS name, concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisprimary, i.indisvalid,
      i.indisready, i.indislive, i.indisclustered, i.indisreplident, i.indimmediate) AS said
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace IN ${OURS}`,
  sequence: `SELECT s.seqrelid::regclass AS name, (to_jsonb(s) - ARRAY['seqrelid', 'seqtypid'])
      || jsonb_build_object('type', s.seqtypid::regtype, 'last', pg_sequence_last_value(s.seqrelid)) AS said
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace IN ${OURS}`,
  view: `SELECT c.oid::regclass AS name, pg_get_viewdef(c.oid) AS said
    FROM pg_class c WHERE c.relnamespace IN ${OURS} AND c.relkind IN ('v', 'm')`,
  rule: `SELECT format('%s %s', r.ev_class::regclass, r.rulename) AS name, concat(pg_get_ruledef(r.oid), r.ev_enabled) AS said
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relnamespace IN ${OURS} AND c.relkind NOT IN ('v', 'm')`,
  function: `SELECT p.oid::regprocedure AS name, concat_ws(' ', pg_get_functiondef(p.oid), p.proowner::regrole,
      ${rights('p.proacl', 'f', 'p.proowner')}) AS said
    FROM pg_proc p WHERE p.pronamespace IN ${OURS} AND p.prokind <> 'a'`,
  trigger: `SELECT format('%s %s', t.tgrelid::regclass, t.tgname) AS name, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled) AS said
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace IN ${OURS} AND NOT t.tgisinternal`,
  policy: `SELECT format('%s %s', p.polrelid::regclass, p.polname) AS name, concat_ws(' ', p.polcmd, p.polpermissive,
      p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid), '/', pg_get_expr(p.polwithcheck, p.polrelid)) AS said
    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace IN ${OURS}`,
  type: `SELECT t.oid::regtype AS name, concat_ws(' ', t.typtype, t.typcategory, t.typowner::regrole,
      ${rights('t.typacl', 'T', 't.typowner')}) AS said
    FROM pg_type t WHERE t.typnamespace IN ${OURS}`,
  publication: `SELECT p.pubname AS name, (to_jsonb(p) - ARRAY['oid', 'pubowner']) || jsonb_build_object('owner', p.pubowner::regrole)
      AS said FROM pg_publication p`,
  published: `SELECT format('%s.%s', t.schemaname, t.tablename) AS name, to_jsonb(t) AS said FROM pg_publication_tables t`,
  'default right': `SELECT concat_ws(' ', d.defaclrole::regrole, d.defaclnamespace::regnamespace, d.defaclobjtype) AS name,
      d.defaclacl::text AS said FROM pg_default_acl d`,
  extension: 'SELECT extname AS name, extversion AS said FROM pg_extension',
  'event trigger':
    'SELECT evtname AS name, concat(evtevent, evtenabled, evtfoid::regprocedure) AS said FROM pg_event_trigger',
  /** Whatever kind of object the schema holds, also one that no query above knows. */
  member: `SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS name, d.deptype::text AS said
    FROM pg_depend d WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid IN ${OURS}`,
  comment: `SELECT pg_describe_object(d.classoid, d.objoid, d.objsubid) AS name, d.description AS said
    FROM pg_description d WHERE d.objoid >= 16384`,
  row: `SELECT 'coxswain.meta' AS name, to_jsonb(m) AS said FROM coxswain.meta m`,
};

export async function readCatalog(client: pg.Client): Promise<Catalog> {
  const catalog = new Map<string, string>();
  for (const [subject, query] of Object.entries(QUERIES)) {
    const text = `SELECT q.name::text AS name, q.said::text AS said FROM (${query}) AS q ORDER BY 1`;
    const { rows } = await client.query<{ name: string; said: string }>(text);
    for (const { name, said } of rows) {
      const key = `${subject} ${name}`;
      if (catalog.has(key)) throw new Error(`two of ${key}`);
      catalog.set(key, subject === 'function' ? withoutComments(said) : said);
    }
  }
  return catalog;
}

/** Comments and line breaks in a function's text are not part of what it does; what stands in quotes is. */
function withoutComments(sql: string): string {
  return sql.replace(/('(?:[^']|'')*'|"[^"]*")|(?:\s|--[^\n]*)+/g, (_all, quoted?: string) => quoted ?? ' ');
}

/** Empty when both hold the same; otherwise one line for each object that only one holds, or that differs. */
export function differences(one: Catalog, other: Catalog): string[] {
  const keys = [...new Set([...one.keys(), ...other.keys()])].sort();
  return keys
    .filter((key) => one.get(key) !== other.get(key))
    .map((key) => `${key}: ${one.get(key) ?? '(none)'} | ${other.get(key) ?? '(none)'}`);
}
