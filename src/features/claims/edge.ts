/**
 * Edge names are written in many ways and mean one thing: `design→code`, `Design -> Code` and `design_code` are one edge.
 * The one place that says so.
 */
export function normEdge(edge: string): string {
  return (
    edge
      .normalize('NFC')
      .trim()
      .toLowerCase()
      .replace(/<?[-=]+>|[→↔⇒⇔]/gu, '_')
      // A `#` parts feature and edge in ids.
      .replace(/[\s#-]+/gu, '_')
      .replace(/_+/gu, '_')
      .replace(/^_|_$/gu, '')
  );
}

/** Features keep their case; only what can't be seen does not tell two of them apart. */
export function normFeature(feature: string): string {
  return feature.normalize('NFC').trim();
}
