/**
 * Edge names have many spellings with one meaning: `design→code`, `Design -> Code` and `design_code` are one
 * edge. This is the only place that normalises them.
 */
export function normEdge(edge: string): string {
  return (
    edge
      .normalize('NFC')
      .trim()
      .toLowerCase()
      .replace(/<?[-=]+>|[→↔⇒⇔]/gu, '_')
      // A `#` separates feature and edge in ids.
      .replace(/[\s#-]+/gu, '_')
      .replace(/_+/gu, '_')
      .replace(/^_|_$/gu, '')
  );
}

/** Features keep their case; only invisible characters don't make two of them different. */
export function normFeature(feature: string): string {
  return feature.normalize('NFC').trim();
}
