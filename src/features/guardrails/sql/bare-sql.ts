/** Each needs two words, because `truncate -s 0 log`, `drop` and `update` may be commands of a shell. */
const STATEMENT = new RegExp(
  [
    String.raw`drop\s+(?:table|database|schema|view|materialized\s+view|index|sequence|function|procedure|trigger|type|role|user|owned|extension|tablespace|policy|column)\b`,
    String.raw`truncate\s+(?:table\s+)?(?!-)["\x60\[]?[a-z_][\w$."\x60\]]*(?:\s*[,*]|\s*$|\s+(?:cascade|restrict|restart|continue)\b)`,
    String.raw`delete\s+from\b`,
    String.raw`update\s+[\s\S]{1,200}?\bset\b`,
    String.raw`insert\s+(?:into|or)\b`,
    String.raw`alter\s+(?:table|database|schema|role|user|system|view|index|type)\b`,
    String.raw`create\s+(?:or\s+replace\s+|temp(?:orary)?\s+|unique\s+)?(?:table|database|schema|view|index|role|user|function)\b`,
    String.raw`(?:grant|revoke)\s+[\s\S]{1,200}?\b(?:on|to|from)\b`,
    String.raw`with\s+(?:recursive\s+)?[\w"]+\s*(?:\([^)]{0,200}\)\s*)?as\s*\(`,
    String.raw`copy\s+[\s\S]{1,200}?\b(?:from|to)\b`,
    String.raw`vacuum\s+full\b`,
    String.raw`do\s+\$`,
    String.raw`select\s+[\s\S]{1,200}?\bfrom\b`,
    String.raw`begin(?:\s+transaction|\s+work)?\s*$`,
  ]
    .map((each) => `(?:${each})`)
    .join('|'),
  'iy',
);

const LEADING = /(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/y;

const STATEMENTS_MAX = 50;

/** Whether the text, or a statement of it, is SQL that stands there by itself: no shell would run it. */
export function isBareSql(text: string): boolean {
  return text.split(';', STATEMENTS_MAX).some((statement) => {
    LEADING.lastIndex = 0;
    LEADING.exec(statement);
    STATEMENT.lastIndex = LEADING.lastIndex;
    return STATEMENT.test(statement);
  });
}
