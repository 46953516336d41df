/** One file as it is and as it shall be; undefined where there is none. Planned first, shown, and only then written. */
export interface FileChange {
  readonly path: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  /** Of a new file, or of one whose mode is to change; else the file keeps its own. */
  readonly mode?: number | undefined;
}
